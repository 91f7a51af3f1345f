public import ArborModel
internal import ArborStore

extension ManagedObjectContext {
  /// Fetches objects, uncommitted changes included.
  ///
  /// - Throws: ``ArborError``: `unknownName`, `invalidPredicate`, `typeMismatch` where the entity's
  ///   class is not `T`, and what the store reports.
  public func fetch<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> [T] {
    try session.fetch(request)
  }

  /// The first object of a request, or nil. The request's own limit does not count.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchOne<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> T? {
    try session.beginOperation()
    // The class of the entity, which all its objects have, is checked.
    return try session.first(request.description, session.entity(for: request))
      .map { unsafeDowncast($0, to: T.self) }
  }

  /// The number of objects that a request would give, without reading them.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func count<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Int {
    try session.read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.count(query, overlay: overlay)
    }
  }

  /// Whether a request would give any object, without making one. Ends at the first.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func exists<T: ManagedObject>(_ request: FetchRequest<T>) throws(ArborError) -> Bool {
    try session.read(request) { snapshot, query, overlay throws(StoreError) in
      try snapshot.exists(query, overlay: overlay)
    }
  }

  /// The IDs of the objects that a request would give, without making objects or copying records.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchIDs<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [ObjectID] {
    try session.numbers(of: request).map(session.objectID)
  }

  /// Computes values over the objects of a request, in the order of the aggregates; see
  /// ``ObjectQuery/Aggregate``.
  package func aggregate<T: ManagedObject>(
    _ request: FetchRequest<T>, _ aggregates: [AggregateExpression]
  ) throws(ArborError) -> [PropertyValue] {
    try session.read(request, aggregates) { snapshot, query, bound, overlay throws(StoreError) in
      try snapshot.aggregate(query, bound, overlay: overlay)
    }
  }

  /// Values instead of objects: a dictionary for each object of a request, or for each group of
  /// them, with uncommitted changes seen.
  ///
  /// The request says what a row holds (``FetchRequest/propertiesToFetch``): key paths and
  /// expressions of the predicate language, each under its text or the name behind ` AS `. Nil
  /// values are ``PropertyValue/null``; relationships are object IDs, those of a to-many one a
  /// list.
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
  /// - An aggregate — `@count`, `count`, `sum`, `average`, `min`, `max`, `median`, `mode`, `stddev`
  ///   of what one object has once — makes one row of each group, or of all objects where nothing
  ///   is grouped by. Whatever else a grouped row asks for has to be grouped by. The same functions
  ///   of a collection, such as `sum(employees.salary)`, are values of one object.
  /// - Sort keys name columns, or whatever a column could be. Without any, rows come in the order
  ///   of their objects, groups in that of their first ones.
  /// - Distinct rows, grouping and having come before offset and limit.
  ///
  /// Time in proportion to the objects that fulfil the predicate, memory to the rows.
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``; `invalidPredicate` for an expression that does not
  ///   parse or bind, `invalidArgument` for what a grouped row cannot hold.
  public func fetchRows<T: ManagedObject>(
    _ request: FetchRequest<T>
  ) throws(ArborError) -> [[String: PropertyValue]] {
    try session.rows(request)
  }

  /// Hands on the rows of a request as they are read.
  ///
  /// - Parameter body: Receives the values of a row's columns, in their order. It must not use the
  ///   context.
  /// - Throws: ``ArborError`` as ``fetchRows(_:)``, after some rows were handed on.
  package func forEachRow<T: ManagedObject>(
    _ request: FetchRequest<T>, _ body: ([PropertyValue]) -> Void
  ) throws(ArborError) {
    try session.forEachRow(request, body)
  }

  /// How the store finds what a request asks for, as of the last commit.
  ///
  /// The plan is made of counts alone, no record is read. Where no count tells how many rows a step
  /// gives, it has an estimate; a fetch finds out, and may then find its rows by another plan.
  ///
  /// ```swift
  /// let plan = try context.explain(request, analyze: true)
  /// print(plan)
  /// if let index = plan.suggestedIndex { print("would help: \(index)") }
  /// ```
  ///
  /// - Parameters:
  ///   - request: What would be fetched.
  ///   - analyze: Whether the fetch is run, so that the plan is the one that ran, and every step
  ///     tells how many rows left it.
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func explain<T: ManagedObject>(
    _ request: FetchRequest<T>, analyze: Bool = false
  ) throws(ArborError) -> QueryPlan {
    try session.read(request) { snapshot, query, _ throws(StoreError) in
      try snapshot.explain(query, analyzes: analyze)
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
