public import ArborModel

/// Objects that are to be there once.
extension ManagedObjectContext {
  /// The object of a class that has some values, or a new one with them.
  ///
  /// ```swift
  /// let france = try context.insertOrFetch(Country.self, where: ["code": "FR"])
  /// let spain = try context.insertOrFetch(Country.self, where: [PropertyPath(\Country.code): "ES"])
  /// ```
  ///
  /// Uncommitted objects are found too. Two contexts that do this at the same time both insert one;
  /// where a uniqueness constraint forbids that, the later commit merges its own into the other's
  /// (see ``MergePolicy``), or under ``MergePolicy/error`` throws `notUnique`, after which
  /// ``PersistentStore/perform(retries:_:)`` runs its body again.
  ///
  /// - Parameters:
  ///   - type: The class, of a concrete entity.
  ///   - values: Properties and what they are equal to; one at least.
  /// - Returns: The object; of several the first by its ID. Whether it is new says
  ///   ``ManagedObject/isInserted``.
  /// - Throws: ``ArborError`` `unknownName` for a property that there is not, `typeMismatch` for a
  ///   value that it does not take, `notAllowed` for an abstract entity, `invalidArgument` without
  ///   values; else as ``fetch(_:)``.
  /// - Complexity: A fetch, which an index over the properties makes short.
  @discardableResult
  public func insertOrFetch<T: ManagedObject>(
    _ type: T.Type, where values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try session.binding(for: type).entity.name
    // The class of the entity, which all its objects have, is checked.
    return unsafeDowncast(try insertOrFetch(name, where: values), to: type)
  }

  /// The object of an entity that has some values, or a new one with them.
  ///
  /// - Throws: As for a class; `unknownName` for an entity that the model lacks too.
  @discardableResult
  public func insertOrFetch(
    _ entityName: String, where values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try UniqueLookup(entityName, in: self).findOrInsert(values)
  }

  /// Sets values of the object of a class that has some others, or of a new one with both.
  ///
  /// ```swift
  /// try context.upsert(Country.self, matching: ["code": "FR"], values: ["name": "France"])
  /// ```
  ///
  /// Uncommitted objects are found too. Properties that are not given stay as they are.
  ///
  /// - Parameters:
  ///   - type: The class, of a concrete entity.
  ///   - key: The properties that identify the object, and what they are equal to;
  ///     one at least.
  ///   - values: Further properties and their values.
  /// - Returns: The object. Whether it is new says ``ManagedObject/isInserted``.
  /// - Throws: ``ArborError`` `notUnique` if two objects match, `unknownName`, `typeMismatch`,
  ///   `notAllowed` and `invalidArgument` as ``insertOrFetch(_:where:)-(T.Type,_)``; the context is
  ///   then as it was before.
  @discardableResult
  public func upsert<T: ManagedObject>(
    _ type: T.Type, matching key: [PropertyPath: (any PredicateArgument)?],
    values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try session.binding(for: type).entity.name
    // The class of the entity, which all its objects have, is checked.
    return unsafeDowncast(try upsert(name, matching: key, values: values), to: type)
  }

  /// Sets values of the object of an entity that has some others, or of a new one with both.
  ///
  /// - Throws: As for a class; `unknownName` for an entity that the model lacks too.
  @discardableResult
  public func upsert(
    _ entityName: String, matching key: [PropertyPath: (any PredicateArgument)?],
    values: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try UniqueLookup(entityName, in: self).upsert(key, values)
  }
}
