public import ArborFoundation
public import ArborModel

/// A description of the objects to fetch: their entity, a predicate and a sort order.
///
/// A request is a value. Changing a copy doesn't change the original, and requests can be passed
/// between tasks.
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

  /// Creates a request for objects of a typed class.
  public init(predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    self.init(entity: T.entityDescription.name, predicate: predicate, sortKeys: sortKeys)
  }

  /// Creates a request for objects of the named entity. The entity's class must be `T` or a
  /// subclass of it.
  public init(entity: String, predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    description = FetchDescription(entityName: entity, predicate: predicate, sortKeys: sortKeys)
  }

  /// Creates a request for the objects that match a typed predicate.
  ///
  /// ```swift
  /// let request = FetchRequest(
  ///   predicate: #Predicate<Employee> { $0.age > 40 }, sortKeys: ["name"])
  /// ```
  ///
  /// If the store cannot express the predicate, the fetch throws. See ``FetchPredicate/init(_:)``.
  public init(predicate: Predicate<T>, sortKeys: [SortKey] = []) {
    self.init(predicate: FetchPredicate(deferring: predicate), sortKeys: sortKeys)
  }

  package init(_ description: FetchDescription) { self.description = description }

  /// The name of the entity.
  public var entity: String {
    get { description.entityName }
    set { description.entityName = newValue }
  }

  /// The predicate that results must match, or `nil` for all objects.
  public var predicate: FetchPredicate? {
    get { description.predicate }
    set { description.predicate = newValue }
  }

  /// The sort order of the results, most significant key first. If empty, results are sorted by ID.
  public var sortKeys: [SortKey] {
    get { description.sortKeys }
    set { description.sortKeys = newValue }
  }

  /// The maximum number of results, or 0 for no limit.
  public var fetchLimit: Int {
    get { description.fetchLimit }
    set { description.fetchLimit = newValue }
  }

  /// The maximum number of results per group, such as the three largest cities of each country.
  /// `nil` disables grouping limits.
  ///
  /// ```swift
  /// request.limitPerGroup = GroupLimit(3, per: "country", by: ["-population"])
  /// ```
  ///
  /// The predicate is applied first, then the groups are formed, including uncommitted changes.
  /// ``sortKeys``, ``fetchOffset`` and ``fetchLimit`` apply to the remaining objects. Without sort
  /// keys, results are returned group by group, each in its own order. Every matching object is
  /// examined once, and memory is used only for those that are kept. Counts, aggregates, rows,
  /// pages, cursors and live results all respect this limit. Grouped rows are computed from the
  /// remaining objects.
  public var limitPerGroup: GroupLimit? {
    get { description.limitPerGroup }
    set { description.limitPerGroup = newValue }
  }

  /// The number of results to skip.
  public var fetchOffset: Int {
    get { description.fetchOffset }
    set { description.fetchOffset = newValue }
  }

  /// The number of objects that ``ManagedObjectContext/cursor(for:)`` and the pages of a request
  /// without a limit create at a time. 0 means 100.
  ///
  /// ``ManagedObjectContext/fetch(_:)`` ignores this value. It copies records into shared memory as
  /// it finds them, so smaller batches would have no benefit for an array of all results.
  public var fetchBatchSize: Int {
    get { description.fetchBatchSize }
    set { description.fetchBatchSize = newValue }
  }

  /// A Boolean value that indicates whether objects of subentities are included. Defaults to
  /// `true`.
  public var includesSubentities: Bool {
    get { description.includesSubentities }
    set { description.includesSubentities = newValue }
  }

  /// A Boolean value that indicates whether the context's uncommitted changes affect which objects
  /// are returned. Defaults to `true`. Otherwise the results are those of the last commit, with
  /// their uncommitted values.
  public var includesPendingChanges: Bool {
    get { description.includesPendingChanges }
    set { description.includesPendingChanges = newValue }
  }

  /// The columns of the rows returned by ``ManagedObjectContext/fetchRows(_:)``: key paths and
  /// expressions as in predicates, each optionally followed by `AS` and a name. If empty, rows
  /// contain all attributes. Ignored when fetching objects.
  ///
  /// ```swift
  /// request.propertiesToFetch = ["company.name AS company", "average(salary)", "@count AS all"]
  /// ```
  public var propertiesToFetch: [PropertyPath] {
    get { description.propertiesToFetch }
    set { description.propertiesToFetch = newValue }
  }

  /// A Boolean value that indicates whether duplicate rows are removed, before offset and limit are
  /// applied. See ``ManagedObjectContext/fetchRows(_:)``. Two values are equal if neither sorts
  /// before the other.
  ///
  /// Only rows are affected. The objects of a request are always distinct, so fetches, counts,
  /// aggregates, cursors and pages ignore this value.
  public var returnsDistinctResults: Bool {
    get { description.returnsDistinctResults }
    set { description.returnsDistinctResults = newValue }
  }

  /// The key paths and expressions to group rows by, or empty for no grouping. See
  /// ``ManagedObjectContext/fetchRows(_:)``.
  public var propertiesToGroupBy: [PropertyPath] {
    get { description.propertiesToGroupBy }
    set { description.propertiesToGroupBy = newValue }
  }

  /// The predicate that grouped rows must match, or `nil` for all rows. It may refer to the
  /// grouping properties, to names in ``propertiesToFetch``, and to aggregates such as
  /// `average(salary)`.
  public var havingPredicate: FetchPredicate? {
    get { description.havingPredicate }
    set { description.havingPredicate = newValue }
  }

  /// The paths of relationships whose objects are loaded together with the results, in one pass:
  /// `"employees"`, `PropertyPath(\Employee.company?.country)`.
  ///
  /// Traversing them then doesn't access the store, until the context commits or merges another
  /// commit.
  public var relationshipKeyPathsForPrefetching: [PropertyPath] {
    get { description.relationshipKeyPathsForPrefetching }
    set { description.relationshipKeyPathsForPrefetching = newValue }
  }

  /// The maximum duration of an operation with this request, or `nil`, the default, for no limit.
  /// Each batch of a cursor counts as one operation.
  ///
  /// An operation that takes longer is stopped within milliseconds and throws ``ArborError``
  /// `deadlineExceeded`. See also ``ManagedObjectContext/deadline`` and
  /// ``PredicateLimits/timeLimit``. The earliest limit applies.
  public var timeLimit: Duration? {
    get { description.timeLimit }
    set { description.timeLimit = newValue }
  }

  /// Returns the request with its results starting after the page that returned `token`.
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
