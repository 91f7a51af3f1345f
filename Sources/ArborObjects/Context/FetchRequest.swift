public import ArborModel

/// What to fetch: objects of an entity that fulfil a predicate, in an order.
///
/// A request is a value: a copy may be changed without changing the original, and it may cross to
/// another task.
///
/// ```swift
/// var request = FetchRequest<Employee>(predicate: "age > \(40)", sortKeys: ["-age", "name"])
/// request.fetchLimit = 50
/// let eldest = try context.fetch(request)
/// let untyped = FetchRequest<ManagedObject>(entity: "Employee")
/// ```
public struct FetchRequest<T: ManagedObject>: Sendable, Hashable {
  /// The request without the type of its results.
  package var description: FetchDescription

  /// Requests objects of a typed class's entity.
  public init(predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    self.init(entity: T.entityDescription.name, predicate: predicate, sortKeys: sortKeys)
  }

  /// Requests objects of an entity by its name. Their class has to be `T` or inherit from it.
  public init(entity: String, predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    description = FetchDescription(entityName: entity, predicate: predicate, sortKeys: sortKeys)
  }

  package init(_ description: FetchDescription) { self.description = description }

  /// The name of the entity.
  public var entity: String {
    get { description.entityName }
    set { description.entityName = newValue }
  }

  /// The condition that results fulfil; nil for all.
  public var predicate: FetchPredicate? {
    get { description.predicate }
    set { description.predicate = newValue }
  }

  /// The order of the results, most significant key first; without keys, that of their IDs.
  public var sortKeys: [SortKey] {
    get { description.sortKeys }
    set { description.sortKeys = newValue }
  }

  /// The greatest number of results; 0 for all.
  public var fetchLimit: Int {
    get { description.fetchLimit }
    set { description.fetchLimit = newValue }
  }

  /// How many results are left out at the beginning.
  public var fetchOffset: Int {
    get { description.fetchOffset }
    set { description.fetchOffset = newValue }
  }

  /// How many results are read at a time; 0: all. A hint that changes no result: records are copied
  /// into shared memory as they are found, so that there is nothing to gain from smaller batches.
  public var fetchBatchSize: Int {
    get { description.fetchBatchSize }
    set { description.fetchBatchSize = newValue }
  }

  /// Whether objects of subentities are results too; on at first.
  public var includesSubentities: Bool {
    get { description.includesSubentities }
    set { description.includesSubentities = newValue }
  }

  /// Whether the context's uncommitted changes decide about results; on at first. Without them the
  /// results are those of the last commit, with their uncommitted values.
  public var includesPendingChanges: Bool {
    get { description.includesPendingChanges }
    set { description.includesPendingChanges = newValue }
  }

  /// The to-one and to-many relationships of the results whose objects are read along.
  public var relationshipKeyPathsForPrefetching: [String] {
    get { description.relationshipKeyPathsForPrefetching }
    set { description.relationshipKeyPathsForPrefetching = newValue }
  }

  /// The same request for another class.
  package func typed<U: ManagedObject>(_ type: U.Type) -> FetchRequest<U> {
    FetchRequest<U>(description)
  }
}
