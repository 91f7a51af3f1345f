public import ArborModel
public import Foundation

/// Objects of an entity, described step by step: which, in what order, how many.
///
/// A query is a value: every step returns a new one and leaves the old one as it was. Nothing is
/// read until a result is asked for, and every result is asked for anew, with the uncommitted
/// changes of the context. A query belongs to its context, keeps it, and stays on its thread.
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
  /// The context that answers.
  public let context: ManagedObjectContext
  /// What is asked for, as a request; it may be changed and fetched by itself.
  public private(set) var request: FetchRequest<T>
}

@available(*, unavailable, message: "A query stays with its context; pass its request.")
extension ObjectQuery: Sendable {}

extension ManagedObjectContext {
  /// All objects of a typed class, as the beginning of a query.
  ///
  /// ```swift
  /// let count = try context.objects(Employee.self).filter("age > 40").count()
  /// ```
  public func objects<T: ManagedObject>(_ type: T.Type) -> ObjectQuery<T> {
    ObjectQuery(context: self, request: FetchRequest<T>())
  }

  /// All objects of an entity by its name, as the beginning of a query. An unknown name throws from
  /// the first result that is asked for.
  public func objects(_ entityName: String) -> ObjectQuery<ManagedObject> {
    ObjectQuery(context: self, request: FetchRequest<ManagedObject>(entity: entityName))
  }

  /// The objects of a request, as a query.
  ///
  /// ```swift
  /// let total = try context.objects(request).value(of: .sum("salary"))
  /// ```
  public func objects<T: ManagedObject>(_ request: FetchRequest<T>) -> ObjectQuery<T> {
    ObjectQuery(context: self, request: request)
  }
}

extension ObjectQuery {
  /// The objects that fulfil a condition too.
  ///
  /// Conditions hold for the whole query, whatever the order of the steps: a limit counts what
  /// fulfils them all.
  public func filter(_ predicate: FetchPredicate) -> ObjectQuery {
    with { $0.predicate = $0.predicate.map { $0 && predicate } ?? predicate }
  }

  /// The objects that do not fulfil a condition: all for which it is false, so also those with nil
  /// where it compares.
  public func exclude(_ predicate: FetchPredicate) -> ObjectQuery { filter(!predicate) }

  /// The objects that fulfil a typed condition too.
  ///
  /// ```swift
  /// let young = context.objects(Employee.self).filter(#Predicate { $0.age < 40 })
  /// ```
  ///
  /// What the store cannot express throws from the first result that is asked for, before anything
  /// is read; see ``FetchPredicate/init(_:)``.
  public func filter(_ predicate: Predicate<T>) -> ObjectQuery {
    filter(FetchPredicate(deferring: predicate))
  }

  /// The objects that do not fulfil a typed condition.
  public func exclude(_ predicate: Predicate<T>) -> ObjectQuery {
    exclude(FetchPredicate(deferring: predicate))
  }

  /// The objects in an order, the most significant key first; a minus sign means descending. It
  /// takes the place of an earlier order.
  ///
  /// ```swift
  /// context.objects(Employee.self).order(by: "-age", "name")
  /// ```
  public func order(by keys: SortKey...) -> ObjectQuery { order(by: keys) }

  /// The objects in an order, as a list of keys; none for the order of their IDs.
  public func order(by keys: [SortKey]) -> ObjectQuery { with { $0.sortKeys = keys } }

  /// The objects in the order of a property. It takes the place of an earlier order.
  ///
  /// ```swift
  /// context.objects(Employee.self).order(by: \.age, .descending)
  /// context.objects(Employee.self).order(by: \.company?.name, options: .caseInsensitive)
  /// ```
  ///
  /// For several keys, write `order(by: .descending(\Employee.age), .ascending(\Employee.name))`.
  public func order<Property>(
    by keyPath: KeyPath<T, Property>, _ direction: SortKey.Direction = .ascending,
    options: SortKey.Options = []
  ) -> ObjectQuery {
    order(by: SortKey(keyPath, direction, options: options))
  }

  /// The first objects only.
  ///
  /// - Parameter count: Their greatest number; 0 for all.
  public func limit(_ count: Int) -> ObjectQuery { with { $0.fetchLimit = count } }

  /// The first objects of each group only.
  ///
  /// ```swift
  /// let largest = context.objects(City.self).top(3, per: "country", by: "-population")
  /// for city in try largest.order(by: "country.name", "name").fetch() { print(city.name) }
  /// ```
  ///
  /// What ``FetchRequest/limitPerGroup`` says holds here. It takes the place of an earlier one.
  ///
  /// - Parameters:
  ///   - count: The greatest number of objects of one group, at least 1.
  ///   - keyPath: The key path or expression whose values make the groups.
  ///   - keys: Which objects of a group come first.
  public func top(_ count: Int, per keyPath: String, by keys: SortKey...) -> ObjectQuery {
    with { $0.limitPerGroup = GroupLimit(count, per: keyPath, by: keys) }
  }

  /// The first objects of each group only.
  ///
  /// ```swift
  /// let largest = context.objects(City.self).top(3, per: \.country, by: .descending(\City.population))
  /// ```
  public func top<Property>(
    _ count: Int, per keyPath: KeyPath<T, Property>, by keys: SortKey...
  ) -> ObjectQuery {
    with { $0.limitPerGroup = GroupLimit(count, per: keyPath, by: keys) }
  }

  /// The objects without the first ones.
  public func offset(_ count: Int) -> ObjectQuery { with { $0.fetchOffset = count } }

  /// The objects of this entity alone, or of subentities too, as at first.
  public func includingSubentities(_ includes: Bool) -> ObjectQuery {
    with { $0.includesSubentities = includes }
  }

  /// The objects with what paths of relationships lead to, read along in one pass.
  public func prefetching(_ keyPaths: String...) -> ObjectQuery {
    with { $0.relationshipKeyPathsForPrefetching += keyPaths.map { PropertyPath($0) } }
  }

  /// The objects with what paths of relationships lead to, read along in one pass.
  ///
  /// ```swift
  /// let employees = context.objects(Employee.self).prefetching(\.company, \.manager?.company)
  /// ```
  ///
  /// A key path that isn't a path of relationships throws from the first result that is asked for.
  public func prefetching(_ keyPaths: PartialKeyPath<T>...) -> ObjectQuery {
    with { $0.relationshipKeyPathsForPrefetching += keyPaths.map { PropertyPath($0) } }
  }

  private func with(_ change: (inout FetchRequest<T>) -> Void) -> ObjectQuery {
    var query = self
    change(&query.request)
    return query
  }
}
