public import ArborModel
internal import ArborStore
internal import ArborWork

extension ManagedObjectContext {
  /// Values instead of objects: a dictionary for each object of a request, or for each group of
  /// them, with uncommitted changes seen.
  ///
  /// The request says what a row holds (``FetchRequest/propertiesToFetch``): key paths and
  /// expressions of the predicate language, each under its text or the name behind ` AS `. Nil
  /// values are ``Value/null``; relationships are object IDs, those of a to-many one a list.
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
  ) throws(ArborError) -> [[String: Value]] {
    try beginOperation()
    let entity = try reader.entity(for: request)
    let plan = try RowPlan(request.description, of: entity, in: work.schema)
    var description = request.description
    // The plan has the order, which may name columns.
    description.sortKeys = []
    description.pageToken = nil
    let query = try reader.query(description, entity)
    let overlay = reader.overlay(for: description)
    let rows = try onSnapshot { snapshot throws(StoreError) in
      try snapshot.rows(query, plan, overlay: overlay)
    }
    return rows.map { row in
      Dictionary(uniqueKeysWithValues: zip(plan.names, row))
    }
  }
}
