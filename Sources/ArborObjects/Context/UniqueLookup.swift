internal import ArborModel
internal import ArborStore

/// Finds the object of an entity that is to be there once, or makes it.
struct UniqueLookup {
  private let entity: EntitySchema
  private let context: ManagedObjectContext

  init(_ entityName: String, in context: ManagedObjectContext) throws(ArborError) {
    entity = try context.session.concreteEntity(named: entityName)
    self.context = context
  }

  /// See ``ManagedObjectContext/insertOrFetch(_:where:)-(String,_)``.
  func findOrInsert(
    _ values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    guard !values.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "insertOrFetch was given no values to find an object of \(entity.name) by; name the "
          + "properties that make it the one."
      ).with(entity: entity.name)
    }
    let found = try find(values.mapValues { $0?.predicateValue ?? .null })
    return if let found { found } else { try insert(values) }
  }

  /// See ``ManagedObjectContext/upsert(_:_:)-(String,_)``.
  func upsert(_ values: [String: (any PredicateArgument)?]) throws(ArborError) -> ManagedObject {
    guard let found = try find(byKeysOf: values) else { return try insert(values) }
    try context.withSavepoint { () throws(ArborError) in
      try PropertyChanges(values).apply(to: found)
    }
    return found
  }

  private func find(_ values: [String: Value]) throws(ArborError) -> ManagedObject? {
    var predicates: [FetchPredicate] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard entity.property(named: name) != nil else { throw entity.unknownProperty(name) }
      predicates.append(try FetchPredicate(format: "%K == %@", name, value))
    }
    var request = FetchRequest<ManagedObject>(entity: entity.name)
    request.predicate = predicates.dropFirst().reduce(predicates[0]) { $0 && $1 }
    return try context.fetchOne(request)
  }

  /// The object that has the given values of all properties of a uniqueness constraint.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` where the values are those of no constraint,
  ///   `notUnique` where they are those of two objects.
  private func find(
    byKeysOf values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject? {
    let all = values.mapValues { $0?.predicateValue ?? .null }
    var found: ManagedObject?
    var isFound = false
    for names in entity.uniquenessConstraints {
      let key = all.filter { names.contains($0.key) && !$0.value.isNull }
      guard key.count == names.count else { continue }
      isFound = true
      guard let object = try find(key) else { continue }
      if let found, found !== object {
        throw ArborError(
          .notUnique,
          "The values are those of \(entity.name) \(found.objectID.number) and of \(entity.name) "
            + "\(object.objectID.number); change one of the objects, or give the values of one."
        ).with(
          entity: entity.name, objectID: found.objectID,
          underlying: OtherObject(objectID: object.objectID))
      }
      found = object
    }
    guard isFound else { throw missingKey() }
    return found
  }

  private func insert(
    _ values: [String: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    try context.session.withSavepoint { () throws(ArborError) in
      let object = try context.insert(entity.name)
      try PropertyChanges(values).apply(to: object)
      return object
    }
  }

  private func missingKey() -> ArborError {
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
