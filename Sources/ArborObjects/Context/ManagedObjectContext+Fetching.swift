public import ArborModel
package import ArborStore

extension ManagedObjectContext {
  /// Returns the objects that match a request, including uncommitted changes.
  ///
  /// - Throws: ``ArborError``: `unknownName`, `invalidPredicate`, `typeMismatch` if the entity's
  ///   class is not `T`, and any error from the store.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try session.fetch(request)
  }

  /// Returns the first object of a request, or `nil`. Ignores the request's limit.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> T? {
    try session.beginOperation()
    let entity = try session.entity(for: request)
    guard let object = try session.first(request.description, entity) else { return nil }
    // All objects of the entity have its class, which has been checked.
    return unsafeDowncast(object, to: T.self)
  }

  /// Returns the number of objects a request would return, without loading them.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func count<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Int {
    try session.read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.count(query, overlay: overlay)
    }
  }

  /// Returns whether a request has any results, without creating objects. Stops at the first match.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func exists<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Bool {
    try session.read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.exists(query, overlay: overlay)
    }
  }

  /// Returns the IDs of the objects a request would return, without creating objects or copying
  /// records.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchIDs<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [ObjectID] {
    try session.numbers(of: request).map(session.objectID)
  }

  /// Computes values over the objects of a request, in the order of the aggregates. See
  /// ``ObjectQuery/Aggregate``.
  package func aggregate<T: ManagedObject>(
    _ request: FetchRequest<T>, _ aggregates: [AggregateExpression]
  ) throws(ArborError) -> [PropertyValue] {
    try session.read(request, aggregates) { snapshot, query, bound, overlay throws(StoreError) in
      try snapshot.aggregate(query, bound, overlay: overlay)
    }
  }

  /// Returns rows of values instead of objects: a dictionary for each object of a request, or for
  /// each group of objects. Uncommitted changes are included.
  ///
  /// ``FetchRequest/propertiesToFetch`` specifies the columns: key paths and expressions of the
  /// predicate language. The key of each value is the column's text, or the name after ` AS ` if
  /// there is one. Nil values are ``PropertyValue/null``. Relationships are object IDs, those of a
  /// to-many relationship as a list.
  ///
  /// ```swift
  /// var request = FetchRequest<Employee>(sortKeys: ["-total"])
  /// request.propertiesToFetch = [
  ///   "company.name AS company", "@count AS people", "sum(salary) AS total",
  ///   "count(distinct(age)) AS ages",
  /// ]
  /// request.propertiesToGroupBy = ["company.name"]
  /// request.havingPredicate = "people > \(10) AND average(salary) > 50000"
  /// for row in try context.fetchRows(request) { print(row["company"], row["total"]) }
  /// ```
  ///
  /// - An aggregate — `@count`, `count`, `sum`, `average`, `min`, `max`, `median`, `mode` or
  ///   `stddev` of a single-valued property — yields one row per group, or one row for all objects
  ///   without grouping. All other columns of grouped rows must be grouping properties. The same
  ///   functions applied to a collection, such as `sum(employees.salary)`, are values of a single
  ///   object.
  /// - Sort keys refer to columns or to any expression that could be a column. Without sort keys,
  ///   rows are returned in the order of their objects, groups in the order of their values. Groups
  ///   with equal sort keys are in the order of their values, too.
  /// - Removing duplicates, grouping and the having predicate are applied before offset and limit.
  ///
  /// The time is proportional to the number of matching objects, memory to the number of rows.
  ///
  /// - Throws: The same errors as ``fetch(_:)``; also `invalidPredicate` if an expression cannot be
  ///   parsed or bound; `invalidArgument` if a column is not allowed in grouped rows.
  public func fetchRows<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [[String: PropertyValue]] {
    try session.rows(request)
  }

  /// Calls a closure with each row of a request as it is read.
  ///
  /// - Parameter body: A closure that receives the values of a row's columns, in order, and returns
  ///   whether more rows are wanted. It must not use the context.
  /// - Throws: The same errors as ``fetchRows(_:)``, possibly after some rows have been delivered.
  package func forEachRow<T: ManagedObject>(
    _ request: FetchRequest<T>, _ body: ([PropertyValue]) -> Bool
  ) throws(ArborError) {
    try session.forEachRow(request, body)
  }

  /// Returns the plan that the store would use for a request, as of the last commit.
  ///
  /// The plan is based on counts only; no record is read. If no count is available for a step, its
  /// number of rows is an estimate. A fetch discovers the actual number and may switch to another
  /// plan.
  ///
  /// ```swift
  /// let plan = try context.explain(request, analyze: true)
  /// print(plan)
  /// if let index = plan.suggestedIndex { print("would help: \(index)") }
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request to explain.
  ///   - analyze: Whether to run the fetch, so that the plan is the one that was executed and every
  ///     step reports its actual number of rows.
  /// - Throws: The same errors as ``fetch(_:)``.
  public func explain<T: ManagedObject>(
    _ request: FetchRequest<T>, analyze: Bool = false
  ) throws(ArborError) -> QueryPlan {
    try session.read(request) { snapshot, query, _ throws(StoreError) in
      try snapshot.explain(query, analyzes: analyze)
    }
  }

  /// Returns the effect that an index would have on a request if the store had it, or `nil` if the
  /// request wouldn't use it.
  ///
  /// - Throws: The same errors as ``fetch(_:)``.
  package func effect<T: ManagedObject>(
    of index: FetchIndexDescription, on request: FetchRequest<T>
  ) throws(ArborError) -> IndexEffect? {
    try session.read(request) { snapshot, query, _ throws(StoreError) in
      try snapshot.effect(of: index, on: query)
    }
  }

  package func explain<T: ManagedObject>(
    _ request: FetchRequest<T>, _ aggregates: [AggregateExpression]
  ) throws(ArborError) -> QueryPlan {
    try session.read(request, aggregates) { snapshot, query, bound, _ throws(StoreError) in
      try snapshot.explain(query, bound)
    }
  }
}
