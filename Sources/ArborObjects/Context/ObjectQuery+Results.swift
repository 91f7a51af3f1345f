public import ArborModel
internal import ArborStore

/// What a query gives. Each of these asks the store anew, and throws what
/// ``ManagedObjectContext/fetch(_:)`` throws.
extension ObjectQuery {
  /// All objects, in order.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func fetch() throws(ArborError) -> [T] { try context.fetch(request) }

  /// The number of objects, without making them.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func count() throws(ArborError) -> Int { try context.count(request) }

  /// The first object of the order, or nil.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func first() throws(ArborError) -> T? { try context.fetchOne(request) }

  /// The last object of the order, or nil: the first of the order with every key reversed. Without
  /// an order it is the last by its ID. Costs what ``first()`` costs where one object is last by its
  /// keys, a look at every row where several are, and with a limit or an offset, which count from
  /// the beginning, what ``fetchIDs()`` costs.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func last() throws(ArborError) -> T? {
    try context.session.beginOperation()
    return try context.session.onPinnedSnapshot { _ throws(ArborError) in try findLast() }
  }

  private func findLast() throws(ArborError) -> T? {
    let session = context.session
    guard request.fetchLimit <= 0, request.fetchOffset <= 0 else {
      guard let number = try session.numbers(of: request).last else { return nil }
      // The class of the entity, which all its objects have, was checked.
      let found: [T] = try session.existingObjects([number]).typed()
      return found.first
    }
    let reversed = request.description.resultOrder.map(\.reversed)
    // Two rows tell whether one of them is the last for certain, and an index may give them.
    let ends = try session.numbers(of: order(by: reversed).limit(2).request)
    if !reversed.isEmpty, !ends.isEmpty, try !session.agree(ends, in: request) {
      let found: [T] = try session.existingObjects(ends.prefix(1)).typed()
      return found.first
    }
    // Objects that agree in all keys come by their IDs, the last one last.
    return try context.fetchOne(order(by: reversed + [.descending("objectID")]).request)
  }

  /// Whether there is no object. Ends at the first.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func isEmpty() throws(ArborError) -> Bool { try !context.exists(request) }

  /// The IDs of all objects, in order, without making objects.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func fetchIDs() throws(ArborError) -> [ObjectID] { try context.fetchIDs(request) }

  /// Explains how the store finds the objects; see ``ManagedObjectContext/explain(_:analyze:)``.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func explain(analyze: Bool = false) throws(ArborError) -> QueryPlan {
    try context.explain(request, analyze: analyze)
  }

  /// Returns the objects one after another, a batch in memory at a time; see
  /// ``ManagedObjectContext/cursor(for:)``.
  ///
  /// ```swift
  /// let employees = try context.objects(Employee.self).cursor()
  /// while let employee = try employees.next() { print(employee.name) }
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func cursor() throws(ArborError) -> FetchCursor<T> { try context.cursor(for: request) }

  /// A page of the objects, and how to get the next; see ``ManagedObjectContext/fetchPage(_:after:)``.
  ///
  /// - Parameter token: ``FetchPage/next`` of the page before; nil for the first.
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetchPage(_:after:)``.
  public func page(after token: String? = nil) throws(ArborError) -> FetchPage<T> {
    try context.fetchPage(request, after: token)
  }

  /// Values of the objects, or of groups of them, instead of the objects; see
  /// ``ManagedObjectContext/fetchRows(_:)``.
  ///
  /// ```swift
  /// let totals = try query.rows("company", "sum(salary) AS total", groupedBy: ["company"])
  /// let ages = try query.rows(PropertyPath(\Employee.age), isDistinct: true)
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetchRows(_:)``.
  public func rows(
    _ properties: PropertyPath..., groupedBy groups: [PropertyPath] = [],
    having: FetchPredicate? = nil,
    isDistinct: Bool = false
  ) throws(ArborError) -> [[String: PropertyValue]] {
    var request = request
    request.propertiesToFetch = properties
    request.propertiesToGroupBy = groups
    request.havingPredicate = having
    request.returnsDistinctResults = isDistinct
    return try context.fetchRows(request)
  }

  /// The objects by what a key path leads to from each, the objects of a group in the query's
  /// order. Objects for which it leads to nil are the group of ``PropertyValue/null``, and a
  /// relationship groups by ``PropertyValue/objectID(_:)``.
  ///
  /// ```swift
  /// let byAge = try context.objects(Employee.self).grouped(by: "age")
  /// for employee in byAge[41] ?? [] { … }
  /// ```
  ///
  /// Groups without their objects — counts, sums — are cheaper as
  /// ``ManagedObjectContext/fetchRows(_:)``.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``; `unknownName` for a key path
  ///   that leads nowhere.
  public func grouped(by keyPath: String) throws(ArborError) -> [PropertyValue: [T]] {
    let session = context.session
    // Also where there are no objects to follow it from.
    _ = try KeyPathBinder.bind(keyPath, to: session.entity(for: request), in: session.schema)
    try session.beginOperation()
    return try session.onPinnedSnapshot { _ throws(ArborError) in
      var groups: [PropertyValue: [T]] = [:]
      for object in try fetch() {
        groups[try object.value(forKeyPath: keyPath), default: []].append(object)
      }
      return groups
    }
  }

  /// The objects by the value of a property of their class, the objects of a group in the query's
  /// order.
  ///
  /// ```swift
  /// let byAge = try context.objects(Employee.self).grouped(by: \.age)   // [Int: [Employee]]
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func grouped<V: Hashable>(by keyPath: KeyPath<T, V>) throws(ArborError) -> [V: [T]] {
    let session = context.session
    try session.beginOperation()
    return try session.onPinnedSnapshot { _ throws(ArborError) in
      let groups = Dictionary(grouping: try fetch()) { $0[keyPath: keyPath] }
      try session.throwDeferredFailure()
      return groups
    }
  }
}
