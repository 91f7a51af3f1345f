public import ArborModel
public import Foundation

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

  /// Requests the objects that fulfil a typed predicate.
  ///
  /// ```swift
  /// let request = FetchRequest(predicate: #Predicate<Employee> { $0.age > 40 }, sortKeys: ["name"])
  /// ```
  ///
  /// What the store cannot express throws from the fetch; see ``FetchPredicate/init(_:)``.
  public init(predicate: Predicate<T>, sortKeys: [SortKey] = []) {
    self.init(predicate: FetchPredicate(deferring: predicate), sortKeys: sortKeys)
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

  /// How many objects of each group are results: the three largest cities of each country. nil for
  /// no such limit.
  ///
  /// ```swift
  /// request.limitPerGroup = GroupLimit(3, per: "country", by: ["-population"])
  /// ```
  ///
  /// The predicate decides first, then the groups, uncommitted changes included; ``sortKeys``,
  /// ``fetchOffset`` and ``fetchLimit`` are of what the groups give. Without sort keys results come
  /// group by group, each in its own order. One look at every object that fulfils the predicate,
  /// and memory for those that are kept. Counts, aggregates, rows, pages, cursors and live results
  /// all heed it; grouped rows are made of the objects that are left.
  public var limitPerGroup: GroupLimit? {
    get { description.limitPerGroup }
    set { description.limitPerGroup = newValue }
  }

  /// How many results are left out at the beginning.
  public var fetchOffset: Int {
    get { description.fetchOffset }
    set { description.fetchOffset = newValue }
  }

  /// How many objects ``ManagedObjectContext/cursor(for:)`` and the pages of a request without limit
  /// make at a time; 0: a hundred.
  ///
  /// ``ManagedObjectContext/fetch(_:)`` makes all its objects at once whatever this says: records
  /// are copied into shared memory as they are found, so that an array of all results has nothing
  /// to gain from smaller batches.
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

  /// What the rows of ``ManagedObjectContext/fetchRows(_:)`` hold: key paths and expressions, as in
  /// predicates, each with `AS` and a name behind it where it shall have one. Empty for all
  /// attributes. Fetches of objects do not look at it.
  ///
  /// ```swift
  /// request.propertiesToFetch = ["company.name AS company", "average(salary)", "@count AS all"]
  /// ```
  public var propertiesToFetch: [PropertyPath] {
    get { description.propertiesToFetch }
    set { description.propertiesToFetch = newValue }
  }

  /// Whether rows that equal an earlier one are left out, before offset and limit; see
  /// ``ManagedObjectContext/fetchRows(_:)``. Two values are equal where they lie at one place in
  /// the order of values.
  ///
  /// Nothing else heeds it: the objects of a request are distinct by their nature, so that fetches,
  /// counts, aggregates, cursors and pages are the same with and without it.
  public var returnsDistinctResults: Bool {
    get { description.returnsDistinctResults }
    set { description.returnsDistinctResults = newValue }
  }

  /// The key paths and expressions whose equal values make one row of several objects; empty for
  /// none. See ``ManagedObjectContext/fetchRows(_:)``.
  public var propertiesToGroupBy: [PropertyPath] {
    get { description.propertiesToGroupBy }
    set { description.propertiesToGroupBy = newValue }
  }

  /// The condition that grouped rows fulfil; nil for all. It may name what is grouped by, the names
  /// of ``propertiesToFetch``, and aggregates such as `average(salary)`.
  public var havingPredicate: FetchPredicate? {
    get { description.havingPredicate }
    set { description.havingPredicate = newValue }
  }

  /// The paths of relationships whose objects are read along with the results, all in one pass:
  /// `"employees"`, `PropertyPath(\Employee.company?.country)`.
  ///
  /// Traversing them then costs no look into the store, until the context commits or takes in a
  /// commit of others.
  public var relationshipKeyPathsForPrefetching: [PropertyPath] {
    get { description.relationshipKeyPathsForPrefetching }
    set { description.relationshipKeyPathsForPrefetching = newValue }
  }

  /// How long an operation with the request may take; nil, the default, for as long as it takes.
  /// Of a cursor each batch is one.
  ///
  /// An operation that takes longer is ended within milliseconds and throws ``ArborError``
  /// `deadlineExceeded`. See also ``ManagedObjectContext/deadline`` and
  /// ``PredicateLimits/timeLimit``, of which the earliest counts.
  public var timeLimit: Duration? {
    get { description.timeLimit }
    set { description.timeLimit = newValue }
  }

  /// The same request, with results from behind the page that gave a token on.
  package func page(after token: String?) -> FetchRequest {
    var request = self
    request.description.pageToken = token
    return request
  }
}

extension ManagedObject: PredicateArgument {
  /// The object's ID as a constant.
  public final var predicateValue: PropertyValue { .objectID(objectID) }
}
