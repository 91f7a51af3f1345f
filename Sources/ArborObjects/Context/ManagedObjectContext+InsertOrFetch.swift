public import ArborModel

/// Inserting objects that must exist only once.
extension ManagedObjectContext {
  /// Returns the object of a class with the given values, or inserts one.
  ///
  /// ```swift
  /// let france = try context.insertOrFetch(Country.self, where: ["code": "FR"])
  /// let spain = try context.insertOrFetch(
  ///   Country.self, where: [PropertyPath(\Country.code): "ES"])
  /// ```
  ///
  /// Uncommitted objects are found, too. If two contexts do this concurrently, both insert an
  /// object. If a uniqueness constraint prevents that, the later commit merges its object into the
  /// other one (see ``MergePolicy``). Under ``MergePolicy/error`` it throws `notUnique` instead,
  /// after which ``PersistentStore/perform(deadline:maximumRetries:_:)`` runs its body again.
  ///
  /// - Parameters:
  ///   - type: The class of a concrete entity.
  ///   - values: The properties to match and their values. Must not be empty.
  /// - Returns: The object, or the one with the lowest ID if several match.
  ///   ``ManagedObject/isInserted`` indicates whether it is new.
  /// - Throws: ``ArborError`` `unknownName` if a property doesn't exist, `typeMismatch` if a value
  ///   doesn't fit its property, `notAllowed` if the entity is abstract, `invalidArgument` if there
  ///   are no values; otherwise the same errors as ``fetch(_:)``.
  /// - Complexity: The cost of a fetch, which is low if an index covers the properties.
  @discardableResult
  public func insertOrFetch<T: ManagedObject>(
    _ type: T.Type, where values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try session.entityName(of: type)
    // All objects of the entity have its class, which is checked.
    return unsafeDowncast(try insertOrFetch(name, where: values), to: type)
  }

  /// Returns the object of an entity with the given values, or inserts one.
  ///
  /// - Throws: The same errors as the overload that takes a class; also `unknownName` if the model
  ///   has no such entity.
  @discardableResult
  public func insertOrFetch(
    _ entityName: String, where values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try UniqueLookup(entityName, in: self).findOrInsert(values)
  }

  /// Sets values of the object of a class that matches a key, or inserts an object with the key and
  /// the values.
  ///
  /// ```swift
  /// try context.upsert(Country.self, matching: ["code": "FR"], values: ["name": "France"])
  /// ```
  ///
  /// Uncommitted objects are found, too. Properties that aren't listed keep their values.
  ///
  /// - Parameters:
  ///   - type: The class of a concrete entity.
  ///   - key: The properties that identify the object and their values. Must not be empty.
  ///   - values: Other properties and their new values.
  /// - Returns: The object. ``ManagedObject/isInserted`` indicates whether it is new.
  /// - Throws: ``ArborError`` `notUnique` if two objects match; `unknownName`, `typeMismatch`,
  ///   `notAllowed` and `invalidArgument` as ``insertOrFetch(_:where:)-(T.Type,_)``. The context is
  ///   unchanged.
  @discardableResult
  public func upsert<T: ManagedObject>(
    _ type: T.Type, matching key: [PropertyPath: (any PredicateArgument)?],
    values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try session.entityName(of: type)
    // All objects of the entity have its class, which is checked.
    return unsafeDowncast(try upsert(name, matching: key, values: values), to: type)
  }

  /// Sets values of the object of an entity that matches a key, or inserts an object with the key
  /// and the values.
  ///
  /// - Throws: The same errors as the overload that takes a class; also `unknownName` if the model
  ///   has no such entity.
  @discardableResult
  public func upsert(
    _ entityName: String, matching key: [PropertyPath: (any PredicateArgument)?],
    values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try UniqueLookup(entityName, in: self).upsert(key, values)
  }
}
