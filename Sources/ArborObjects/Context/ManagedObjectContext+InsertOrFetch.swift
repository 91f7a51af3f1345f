public import ArborModel
internal import ArborStore
internal import ArborWork

/// Objects that are to be there once.
extension ManagedObjectContext {
  /// The object of a class that has some values, or a new one with them.
  ///
  /// ```swift
  /// let france = try context.insertOrFetch(Country.self, where: ["code": "FR"])
  /// ```
  ///
  /// Uncommitted objects are found too. Two contexts that do this at the same time both insert one;
  /// where a uniqueness constraint forbids that, the later commit merges its own into the other's
  /// (see ``MergePolicy``), or under ``MergePolicy/error`` throws `notUnique`, after which
  /// ``PersistentStore/perform(retries:_:)`` runs its body again.
  ///
  /// - Parameters:
  ///   - type: The class, of a concrete entity.
  ///   - values: Properties by their names and what they are equal to; one at least.
  /// - Returns: The object; of several the first by its ID. Whether it is new says
  ///   ``ManagedObject/isInserted``.
  /// - Throws: ``ArborError`` `unknownName` for a property that there is not, `typeMismatch` for a
  ///   value that it does not take, `notAllowed` for an abstract entity, `invalidArgument` without
  ///   values; else as ``fetch(_:)``.
  /// - Complexity: A fetch, which an index over the properties makes short.
  @discardableResult
  public func insertOrFetch<T: ManagedObject>(
    _ type: T.Type, where values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try binding(for: type).entity.name
    // The class of the entity, which all its objects have, is checked.
    return unsafeDowncast(try insertOrFetch(name, where: values), to: type)
  }

  /// The object of an entity that has some values, or a new one with them.
  ///
  /// - Throws: As for a class; `unknownName` for an entity that the model lacks too.
  @discardableResult
  public func insertOrFetch(
    _ entityName: String, where values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    let entity = try concreteEntity(named: entityName)
    guard !values.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "insertOrFetch was given no values to find an object of \(entityName) by; name the "
          + "properties that make it the one."
      ).with(entity: entityName)
    }
    if let object = try first(of: entity, values.mapValues { $0?.predicateValue ?? .null }) {
      return object
    }
    return try insert(entityName, values)
  }

  /// Sets values of the object of a class that a uniqueness constraint tells apart, or of a new
  /// one.
  ///
  /// ```swift
  /// try context.upsert(Country.self, ["code": "FR", "name": "France"])
  /// ```
  ///
  /// The object is the one that has the given values of all properties of a constraint of its
  /// entity, uncommitted objects included. Properties that are not given stay as they are.
  ///
  /// - Parameters:
  ///   - type: The class, of a concrete entity.
  ///   - values: Properties by their names, among them all those of a uniqueness constraint.
  /// - Returns: The object. Whether it is new says ``ManagedObject/isInserted``.
  /// - Throws: ``ArborError`` `invalidArgument` where the values are those of no constraint,
  ///   `notUnique` where they are those of two objects, `unknownName`, `typeMismatch` and
  ///   `notAllowed` as ``insertOrFetch(_:where:)-(T.Type,_)``; the context is then as it was
  ///   before.
  @discardableResult
  public func upsert<T: ManagedObject>(
    _ type: T.Type, _ values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> T {
    let name = try binding(for: type).entity.name
    // The class of the entity, which all its objects have, is checked.
    return unsafeDowncast(try upsert(name, values), to: type)
  }

  /// Sets values of the object of an entity that a uniqueness constraint tells apart, or of a new
  /// one.
  ///
  /// - Throws: As for a class; `unknownName` for an entity that the model lacks too.
  @discardableResult
  public func upsert(
    _ entityName: String, _ values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    let entity = try concreteEntity(named: entityName)
    let all = values.mapValues { $0?.predicateValue ?? .null }
    var found: ManagedObject?
    var isFound = false
    for names in entity.uniquenessConstraints {
      let key = all.filter { names.contains($0.key) && !$0.value.isNull }
      guard key.count == names.count else { continue }
      isFound = true
      guard let object = try first(of: entity, key) else { continue }
      if let found, found !== object {
        throw ArborError(
          .notUnique,
          "The values are those of \(entityName) \(found.objectID.number) and of \(entityName) "
            + "\(object.objectID.number); change one of the objects, or give the values of one."
        ).with(
          entity: entityName, objectID: found.objectID,
          underlying: OtherObject(objectID: object.objectID))
      }
      found = object
    }
    guard isFound else { throw missingKey(entity) }
    guard let found else { return try insert(entityName, values) }
    try work.withSavepoint { () throws(ArborError) in try set(values, of: found) }
    return found
  }

  /// The first object of an entity that has some values.
  private func first(
    of entity: EntitySchema, _ values: [String: Value]
  ) throws(ArborError) -> ManagedObject? {
    var predicates: [FetchPredicate] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard entity.property(named: name) != nil else {
        throw ArborError(
          .unknownName,
          "Entity \(entity.name) has no property \(name)."
            + NearestName.hint(name, in: entity.propertyNames)
        ).with(entity: entity.name, keyPath: name)
      }
      predicates.append(try FetchPredicate(format: "%K == %@", name, value))
    }
    var request = FetchRequest<ManagedObject>(entity: entity.name)
    request.predicate = predicates.dropFirst().reduce(predicates[0]) { $0 && $1 }
    return try fetchOne(request)
  }

  private func insert(
    _ entityName: String, _ values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try work.withSavepoint { () throws(ArborError) in
      let object = try insert(entityName)
      try set(values, of: object)
      return object
    }
  }

  private func set(
    _ values: [String: (any PredicateArgument)?], of object: ManagedObject
  ) throws(ArborError) {
    // In one order, whatever that of the dictionary: the last of two inverse relationships wins.
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      try object.setValue(value?.predicateValue ?? .null, forKey: name)
    }
  }

  private func missingKey(_ entity: EntitySchema) -> ArborError {
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }
    let what =
      constraints.isEmpty
      ? "\(entity.name) has no uniqueness constraint; give its model one, or use insertOrFetch"
      : "The values name no \(entity.name); give those of \(constraints.joined(separator: ", or "))"
    return ArborError(.invalidArgument, what + ".").with(entity: entity.name)
  }
}

extension EntitySchema {
  /// The properties of each uniqueness constraint, ancestors' included.
  fileprivate var uniquenessConstraints: [[String]] {
    indexes.filter { $0.isUnique && $0.isPlain }.map { $0.columns.map { name(of: $0.source) } }
  }
}
