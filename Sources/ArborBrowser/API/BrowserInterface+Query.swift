internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Rows of values, and how the store finds them.
extension BrowserInterface {
  /// How many rows one answer has at most.
  private static let mostRows = 1000

  /// Runs a query: `entity`, and where wanted `where`, `having`, `limit`, `distinct`, and `sort`,
  /// `column` and `group` once for each.
  func query(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let entity = try entity(of: request)
    var wanted = try self.request(request, entity)
    wanted.propertiesToFetch = request.parameters("column")
    wanted.propertiesToGroupBy = request.parameters("group")
    try wanted.description.checkExpressions(.untrusted)
    wanted.returnsDistinctResults = request.parameter("distinct") == "true"
    if let having = request.parameter("having") {
      wanted.havingPredicate = try FetchPredicate(format: having, limits: .untrusted)
    }
    let limit = number("limit", of: request, atMost: Self.mostRows) ?? 100
    // One more tells whether there are more.
    wanted.fetchLimit = limit + 1
    let context = makeContext()
    let began = ContinuousClock.now
    let rows = try context.fetchRows(wanted)
    let time = milliseconds(since: began)
    let columns = names(of: wanted, entity)
    return [
      "columns": .array(columns.map(JSONValue.string)),
      "rows": .array(
        rows.prefix(limit).map { row in
          .array(
            columns.map { ValueJSON.json(row[$0] ?? .null, longest: ValueJSON.longestInTable) })
        }),
      "hasMore": .bool(rows.count > limit), "milliseconds": time,
      "plan": try plan(wanted, limit, context),
    ]
  }

  private func names(
    of request: FetchRequest<ManagedObject>, _ entity: BrowsedSchema.Entity
  ) -> [String] {
    guard !request.propertiesToFetch.isEmpty else {
      return entity.attributes.map(\.name)
    }
    return request.propertiesToFetch.map { column in
      let name = column.range(of: " AS ", options: [.caseInsensitive, .backwards])
      return (name.map { String(column[$0.upperBound...]) } ?? column)
        .trimmingCharacters(in: .whitespaces)
    }
  }

  /// The plan by which the objects are found, with the rows that each step gave.
  private func plan(
    _ request: FetchRequest<ManagedObject>, _ limit: Int, _ context: ManagedObjectContext
  ) throws(ArborError) -> JSONValue {
    var objects = request
    let isAggregated =
      !request.propertiesToGroupBy.isEmpty || request.returnsDistinctResults
      || request.propertiesToFetch.contains { $0.contains("(") || $0.contains("@") }
    // Sort keys of grouped rows name columns, and their limit is one of groups: the objects are
    // found without either.
    if isAggregated { objects.sortKeys = [] }
    objects.fetchLimit = isAggregated ? 0 : limit
    let plan = try context.explain(objects, analyze: true)
    var fields: JSONObject = ["root": Self.json(of: plan.root)]
    if let advice = plan.suggestedIndex { fields["suggestedIndex"] = .string("\(advice)") }
    return .object(fields)
  }

  private static func json(of step: QueryPlan.Step) -> JSONValue {
    [
      "kind": .string(step.kind.rawValue), "name": step.name.map(JSONValue.string) ?? .null,
      "detail": .string(step.detail),
      "estimated": step.estimatedRows.map { JSONValue($0) } ?? .null,
      "actual": step.actualRows.map { JSONValue($0) } ?? .null,
      "inputs": .array(step.inputs.map { json(of: $0) }),
    ]
  }
}
