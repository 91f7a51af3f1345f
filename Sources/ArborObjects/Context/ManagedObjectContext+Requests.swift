public import ArborModel
internal import ArborWork

/// Fetching in one line, and by the names of a model's requests.
extension ManagedObjectContext {
  /// Fetches objects of a typed class.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetch<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [T] {
    try fetch(request(type, predicate, sortKeys))
  }

  /// Fetches objects of an entity by its name.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetch(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> [ManagedObject] {
    try fetch(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// The first object of a typed class that fulfils a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil, sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> T? {
    guard type != ManagedObject.self else {
      return try fetchOne(request(type, predicate, sortKeys))
    }
    try beginOperation()
    let entity = try reader.binding(for: type).entity
    var bound: BoundPredicate?
    // The binding makes objects of this class or one that inherits from it.
    if let predicate {
      let own = try PredicateBinder.bind(predicate, to: entity, in: work.schema)
      if sortKeys.isEmpty,
        let found = try lookUp(predicate, own, entity, includesSubentities: true, work.overlay)
      {
        return found.map { unsafeDowncast($0, to: type) }
      }
      bound = own
    }
    let description = FetchDescription(
      entityName: entity.name, predicate: predicate, sortKeys: sortKeys)
    return try firstPlanned(description, entity, bound).map { unsafeDowncast($0, to: type) }
  }

  /// The first object of an entity that fulfils a predicate, or nil.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne(
    _ entityName: String, matching predicate: FetchPredicate? = nil,
    sortedBy sortKeys: [SortKey] = []
  ) throws(ArborError) -> ManagedObject? {
    try fetchOne(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate, sortKeys: sortKeys))
  }

  /// The number of objects of a typed class that fulfil a predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(
    _ type: T.Type, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(request(type, predicate, []))
  }

  /// A request for a typed class. Its binding knows the entity's name, which costs less than the
  /// class's description does.
  @inline(__always)
  private func request<T: ManagedObject>(
    _ type: T.Type, _ predicate: FetchPredicate?, _ sortKeys: [SortKey]
  ) throws(ArborError) -> FetchRequest<T> {
    guard type != ManagedObject.self else {
      return FetchRequest<T>(predicate: predicate, sortKeys: sortKeys)
    }
    return FetchRequest<T>(
      entity: try reader.binding(for: type).entity.name, predicate: predicate, sortKeys: sortKeys)
  }

  /// The number of objects of an entity that fulfil a predicate.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count(
    _ entityName: String, matching predicate: FetchPredicate? = nil
  ) throws(ArborError) -> Int {
    try count(FetchRequest<ManagedObject>(entity: entityName, predicate: predicate))
  }

  /// A copy of one of the model's named requests, which the caller may change.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, by their names without the dollar.
  /// - Throws: ``ArborError`` `unknownName` for a request that the model does not have,
  ///   `invalidPredicate` for one that does not parse.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    try store.fetchRequest(named: name, substituting: values)
  }

  /// The name of the entity that a typed class represents.
  ///
  /// - Throws: ``ArborError`` where the class represents none of the model's entities.
  package func entityName(of objectClass: ManagedObject.Type) throws(ArborError) -> String {
    try reader.binding(for: objectClass).entity.name
  }
}

extension PersistentStore {
  /// A copy of one of the model's named requests, which the caller may change.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - values: Constants for the predicate's `$variables`, by their names without the dollar.
  /// - Throws: ``ArborError`` `unknownName` for a request that the model does not have,
  ///   `invalidPredicate` for one that does not parse.
  public func fetchRequest(
    named name: String, substituting values: [String: (any PredicateArgument)?] = [:]
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    guard let template = model.fetchRequestTemplates.first(where: { $0.name == name }) else {
      throw ArborError(
        .unknownName,
        "The model has no fetch request named \(name)."
          + NearestName.hint(name, in: model.fetchRequestTemplates.map(\.name)))
    }
    var description = FetchDescription(entityName: template.entity)
    if let text = template.predicate {
      description.predicate = try FetchPredicate(format: text).substituting(values)
    }
    description.fetchLimit = template.fetchLimit
    description.fetchBatchSize = template.fetchBatchSize
    description.includesSubentities = template.includesSubentities
    description.includesPendingChanges = template.includesPendingChanges
    description.returnsDistinctResults = template.returnsDistinctResults
    return FetchRequest(description)
  }
}

extension ManagedObject: PredicateArgument {
  /// The object's ID as a constant.
  public final var predicateValue: Value { .objectID(objectID) }
}
