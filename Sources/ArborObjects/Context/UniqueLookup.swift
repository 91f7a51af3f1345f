internal import ArborModel
internal import ArborStore

/// Finds an object by its identifying values, or inserts it.
struct UniqueLookup {
  private let entity: EntitySchema
  private let context: ManagedObjectContext

  init(_ entityName: String, in context: ManagedObjectContext) throws(ArborError) {
    entity = try context.session.concreteEntity(named: entityName)
    self.context = context
  }

  /// Implements ``ManagedObjectContext/insertOrFetch(_:where:)-(String,_)``.
  func findOrInsert(
    _ given: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    let values = try given.valuesByName()
    let found = try find(values, limit: 1, for: "insertOrFetch").first
    return if let found { found } else { try insert(values) }
  }

  /// Implements ``ManagedObjectContext/upsert(_:matching:values:)-(String,_,_)``.
  func upsert(
    _ identity: [PropertyPath: (any PredicateArgument)?],
    _ given: [PropertyPath: (any PredicateArgument)?]
  ) throws(ArborError) -> ManagedObject {
    let key = try identity.valuesByName()
    let values = try given.valuesByName()
    let found = try find(key, limit: 2, for: "upsert")
    guard let object = found.first else { return try insert(key.merging(values) { $1 }) }
    if found.count > 1 {
      throw ArborError(
        .notUnique,
        "\(entity.name) \(object.objectID.number) and \(entity.name) \(found[1].objectID.number) "
          + "both match. Match by properties that identify a single object."
      ).with(
        entity: entity.name, objectID: object.objectID,
        underlying: ArborError.OtherObject(objectID: found[1].objectID))
    }
    try context.withSavepoint { () throws(ArborError) in
      try PropertyChanges(values).apply(to: object)
    }
    return object
  }

  private func find(
    _ values: [String: PropertyValue], limit: Int, for verb: String
  ) throws(ArborError) -> [ManagedObject] {
    guard !values.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "\(verb) was called without values that identify an object of \(entity.name). Pass "
          + "identifying properties."
      ).with(entity: entity.name)
    }
    var predicates: [FetchPredicate] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard entity.property(named: name) != nil else { throw entity.unknownProperty(name) }
      predicates.append(
        try FetchPredicate(format: "%K == %@", name, value))
    }
    var request = FetchRequest<ManagedObject>(entity: entity.name)
    request.predicate = predicates.dropFirst().reduce(predicates[0]) { $0 && $1 }
    request.fetchLimit = limit
    return try context.fetch(request)
  }

  private func insert(
    _ values: [String: PropertyValue]
  ) throws(ArborError) -> ManagedObject {
    try context.session.withSavepoint { () throws(ArborError) in
      let object = try context.insert(entity.name)
      try PropertyChanges(values).apply(to: object)
      return object
    }
  }
}
