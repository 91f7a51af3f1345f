public import ArborFoundation
public import ArborModel

/// A query for objects of an entity, built step by step from filters, a sort order and limits.
///
/// A query is a value. Every step returns a new query and leaves the original unchanged. Nothing is
/// read until a result is requested, and each request queries the store again, including the
/// context's uncommitted changes. A query belongs to its context, retains it, and must stay on its
/// thread.
///
/// ```swift
/// let employees = context.objects(Employee.self)
/// let young = employees.filter("age < \(40)").order(by: "-age", "name")
/// for employee in try young.limit(10).fetch() { print(employee.name) }
/// let oldest = try young.value(of: .maximum(\.age))
/// try employees.filter("company == nil").delete()
/// ```
///
/// ## Topics
/// ### Steps
/// - ``filter(_:)-(FetchPredicate)``
/// - ``exclude(_:)-(FetchPredicate)``
/// - ``order(by:)-(SortKey...)``
/// - ``order(by:_:options:)``
/// - ``limit(_:)``
/// - ``top(_:per:by:)-(_,String,_)``
/// - ``offset(_:)``
/// - ``prefetching(_:)-(PartialKeyPath<T>...)``
/// ### Results
/// - ``fetch()``
/// - ``count()``
/// - ``first()``
/// - ``last()``
/// - ``isEmpty()``
/// - ``fetchIDs()``
/// - ``cursor()``
/// - ``grouped(by:)-(String)``
/// - ``page(after:)``
/// - ``rows(_:groupedBy:having:isDistinct:)``
/// - ``explain(analyze:)``
/// ### Aggregates
/// - ``value(of:)``
/// - ``values(of:)``
/// - ``Aggregate``
/// ### Changes
/// - ``update(_:)``
/// - ``update(_:to:)-(KeyPath<T,V>,_)``
/// - ``delete()``
public struct ObjectQuery<T: ManagedObject> {
  /// The context that runs the query.
  public let context: ManagedObjectContext
  /// The query as a request, which can be modified and fetched separately.
  public private(set) var request: FetchRequest<T>
}

@available(*, unavailable, message: "A query belongs to its context. Pass its request instead.")
extension ObjectQuery: Sendable {}

extension ManagedObjectContext {
  /// Returns a query for all objects of a typed class.
  ///
  /// ```swift
  /// let count = try context.objects(Employee.self).filter("age > 40").count()
  /// ```
  public func objects<T: ManagedObject>(_ type: T.Type) -> ObjectQuery<T> {
    ObjectQuery(context: self, request: FetchRequest<T>())
  }

  /// Returns a query for all objects of an entity. If the name is unknown, requesting a result
  /// throws.
  public func objects(_ entityName: String) -> ObjectQuery<ManagedObject> {
    ObjectQuery(context: self, request: FetchRequest<ManagedObject>(entity: entityName))
  }

  /// Returns a query for the objects of a request.
  ///
  /// ```swift
  /// let total = try context.objects(request).value(of: .sum("salary"))
  /// ```
  public func objects<T: ManagedObject>(_ request: FetchRequest<T>) -> ObjectQuery<T> {
    ObjectQuery(context: self, request: request)
  }
}

extension ObjectQuery {
  /// Returns a query for the objects that also match a predicate.
  ///
  /// Predicates apply to the whole query, regardless of the order of the steps: a limit counts only
  /// objects that match all of them.
  public func filter(_ predicate: FetchPredicate) -> ObjectQuery {
    with { $0.predicate = $0.predicate.map { $0 && predicate } ?? predicate }
  }

  /// Returns a query for the objects that don't match a predicate: all for which it is false,
  /// including those with `nil` in a comparison.
  public func exclude(_ predicate: FetchPredicate) -> ObjectQuery { filter(!predicate) }

  /// Returns a query for the objects that also match a typed predicate.
  ///
  /// ```swift
  /// let young = context.objects(Employee.self).filter(#Predicate { $0.age < 40 })
  /// ```
  ///
  /// If the store cannot express the predicate, requesting a result throws before anything is read.
  /// See ``FetchPredicate/init(_:)``.
  public func filter(_ predicate: Predicate<T>) -> ObjectQuery {
    filter(FetchPredicate(deferring: predicate))
  }

  /// Returns a query for the objects that don't match a typed predicate.
  public func exclude(_ predicate: Predicate<T>) -> ObjectQuery {
    exclude(FetchPredicate(deferring: predicate))
  }

  /// Returns the query with a sort order, most significant key first. A minus sign means
  /// descending. Replaces any previous order.
  ///
  /// ```swift
  /// context.objects(Employee.self).order(by: "-age", "name")
  /// ```
  public func order(by keys: SortKey...) -> ObjectQuery { order(by: keys) }

  /// Returns the query with a sort order given as an array of keys. An empty array sorts by ID.
  public func order(by keys: [SortKey]) -> ObjectQuery { with { $0.sortKeys = keys } }

  /// Returns the query sorted by a property. Replaces any previous order.
  ///
  /// ```swift
  /// context.objects(Employee.self).order(by: \.age, .descending)
  /// context.objects(Employee.self).order(by: \.company?.name, options: .caseInsensitive)
  /// ```
  ///
  /// To sort by several keys, write `order(by: .descending(\Employee.age),
  /// .ascending(\Employee.name))`.
  public func order<Property>(
    by keyPath: KeyPath<T, Property>, _ direction: SortKey.Direction = .ascending,
    options: SortKey.Options = []
  ) -> ObjectQuery {
    order(by: SortKey(keyPath, direction, options: options))
  }

  /// Returns the query limited to the first objects.
  ///
  /// - Parameter count: The maximum number of objects, or 0 for no limit.
  public func limit(_ count: Int) -> ObjectQuery { with { $0.fetchLimit = count } }

  /// Returns the query limited to the first objects of each group.
  ///
  /// ```swift
  /// let largest = context.objects(City.self).top(3, per: "country", by: "-population")
  /// for city in try largest.order(by: "country.name", "name").fetch() { print(city.name) }
  /// ```
  ///
  /// The rules of ``FetchRequest/limitPerGroup`` apply. Replaces any previous group limit.
  ///
  /// - Parameters:
  ///   - count: The maximum number of objects per group, at least 1.
  ///   - keyPath: The key path or expression to group by.
  ///   - keys: The sort order within a group, which determines its first objects.
  public func top(_ count: Int, per keyPath: String, by keys: SortKey...) -> ObjectQuery {
    with { $0.limitPerGroup = GroupLimit(count, per: keyPath, by: keys) }
  }

  /// Returns the query limited to the first objects of each group.
  ///
  /// ```swift
  /// let largest = context.objects(City.self)
  ///   .top(3, per: \.country, by: .descending(\City.population))
  /// ```
  public func top<Property>(
    _ count: Int, per keyPath: KeyPath<T, Property>, by keys: SortKey...
  ) -> ObjectQuery {
    with { $0.limitPerGroup = GroupLimit(count, per: keyPath, by: keys) }
  }

  /// Returns the query without the first `count` objects.
  public func offset(_ count: Int) -> ObjectQuery { with { $0.fetchOffset = count } }

  /// Returns the query with or without objects of subentities. They are included by default.
  public func includingSubentities(_ includes: Bool) -> ObjectQuery {
    with { $0.includesSubentities = includes }
  }

  /// Returns the query with the related objects at the given key paths loaded in the same pass.
  public func prefetching(_ keyPaths: String...) -> ObjectQuery {
    with { $0.relationshipKeyPathsForPrefetching += keyPaths.map { PropertyPath($0) } }
  }

  /// Returns the query with the related objects at the given key paths loaded in the same pass.
  ///
  /// ```swift
  /// let employees = context.objects(Employee.self).prefetching(\.company, \.manager?.company)
  /// ```
  ///
  /// If a key path isn't a path of relationships, requesting a result throws.
  public func prefetching(_ keyPaths: PartialKeyPath<T>...) -> ObjectQuery {
    with { $0.relationshipKeyPathsForPrefetching += keyPaths.map { PropertyPath($0) } }
  }

  private func with(_ change: (inout FetchRequest<T>) -> Void) -> ObjectQuery {
    var query = self
    change(&query.request)
    return query
  }
}
