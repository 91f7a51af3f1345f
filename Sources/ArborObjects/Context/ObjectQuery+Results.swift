public import ArborModel
internal import ArborStore

/// Results of a query. Each of these methods queries the store again, and throws the errors of
/// ``ManagedObjectContext/fetch(_:)``.
extension ObjectQuery {
  /// Returns all objects, in sort order.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func fetch() throws(ArborError) -> [T] { try context.fetch(request) }

  /// Returns the number of objects without creating them.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func count() throws(ArborError) -> Int { try context.count(request) }

  /// Returns the first object in sort order, or `nil`.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func first() throws(ArborError) -> T? { try context.fetchOne(request) }

  /// Returns the last object in sort order, or `nil`. Without sort keys, it is the one with the
  /// highest ID.
  ///
  /// The cost is that of ``first()`` if a single object is last by its keys. If several are, every
  /// row is examined. With a limit or offset, which count from the beginning, the cost is that of
  /// ``fetchIDs()``.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func last() throws(ArborError) -> T? {
    try context.session.beginOperation()
    return try context.session.onPinnedSnapshot { _ throws(ArborError) in try findLast() }
  }

  private func findLast() throws(ArborError) -> T? {
    let session = context.session
    guard request.fetchLimit <= 0, request.fetchOffset <= 0 else {
      guard let number = try session.numbers(of: request).last else { return nil }
      // All objects of the entity have its class, which has been checked.
      let found: [T] = try session.existingObjects([number]).typed()
      return found.first
    }
    let reversed = request.description.resultOrder.map(\.reversed)
    // Two rows are enough to see whether the last one is unambiguous, and an index may provide
    // them.
    let ends = try session.numbers(of: order(by: reversed).limit(2).request)
    if !reversed.isEmpty, !ends.isEmpty, try !session.agree(ends, in: request) {
      let found: [T] = try session.existingObjects(ends.prefix(1)).typed()
      return found.first
    }
    // Objects with equal keys are sorted by ID, so the highest ID is last.
    return try context.fetchOne(order(by: reversed + [.descending("objectID")]).request)
  }

  /// Returns whether there are no objects. Stops at the first match.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func isEmpty() throws(ArborError) -> Bool { try !context.exists(request) }

  /// Returns the IDs of all objects, in sort order, without creating the objects.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func fetchIDs() throws(ArborError) -> [ObjectID] { try context.fetchIDs(request) }

  /// Returns the plan that the store would use to find the objects. See
  /// ``ManagedObjectContext/explain(_:analyze:)``.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func explain(analyze: Bool = false) throws(ArborError) -> QueryPlan {
    try context.explain(request, analyze: analyze)
  }

  /// Returns a cursor over the objects, which holds one batch in memory at a time. See
  /// ``ManagedObjectContext/cursor(for:)``.
  ///
  /// ```swift
  /// let employees = try context.objects(Employee.self).cursor()
  /// while let employee = try employees.next() { print(employee.name) }
  /// ```
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func cursor() throws(ArborError) -> FetchCursor<T> { try context.cursor(for: request) }

  /// Returns a page of the objects and the token for the next one. See
  /// ``ManagedObjectContext/fetchPage(_:after:)``.
  ///
  /// - Parameter token: The ``FetchPage/next`` token of the previous page, or `nil` for the first
  ///   page.
  /// - Throws: The same errors as ``ManagedObjectContext/fetchPage(_:after:)``.
  public func page(after token: String? = nil) throws(ArborError) -> FetchPage<T> {
    try context.fetchPage(request, after: token)
  }

  /// Returns rows of values of the objects, or of groups of objects. See
  /// ``ManagedObjectContext/fetchRows(_:)``.
  ///
  /// ```swift
  /// let totals = try query.rows("company", "sum(salary) AS total", groupedBy: ["company"])
  /// let ages = try query.rows(PropertyPath(\Employee.age), isDistinct: true)
  /// ```
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetchRows(_:)``.
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

  /// Returns the objects grouped by their value for a key path, each group in the query's order.
  /// Objects whose value is `nil` form the group ``PropertyValue/null``. A relationship groups by
  /// ``PropertyValue/objectID(_:)``. The groups are those of ``ManagedObjectContext/fetchRows(_:)``:
  /// strings are distinct if their code points are, numbers if their numeric values are.
  ///
  /// ```swift
  /// let byAge = try context.objects(Employee.self).grouped(by: "age")
  /// for employee in byAge[41] ?? [] { … }
  /// ```
  ///
  /// To compute only counts or sums of groups, ``ManagedObjectContext/fetchRows(_:)`` is more
  /// efficient.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``; also `unknownName` if the key
  ///   path is invalid.
  public func grouped(by keyPath: String) throws(ArborError) -> [PropertyValue: [T]] {
    let session = context.session
    // Checks the key path even if there are no objects.
    _ = try KeyPathBinder.bind(keyPath, to: session.entity(for: request), in: session.schema)
    try session.beginOperation()
    return try session.onPinnedSnapshot { _ throws(ArborError) in
      var groups: [DistinctValue: [T]] = [:]
      for object in try fetch() {
        groups[DistinctValue(try object.value(forKeyPath: keyPath)), default: []].append(object)
      }
      return Dictionary(uniqueKeysWithValues: groups.lazy.map { ($0.key.value, $0.value) })
    }
  }

  /// Returns the objects grouped by a property of their class, each group in the query's order.
  ///
  /// ```swift
  /// let byAge = try context.objects(Employee.self).grouped(by: \.age)   // [Int: [Employee]]
  /// ```
  ///
  /// Values are compared by the `==` of their type. `String` considers canonically equivalent
  /// strings equal, so composed and decomposed "é" form one group; ``grouped(by:)-(String)``
  /// separates them.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
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
