internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import ArborStore
internal import Foundation

/// Rows of values, and the plans of their queries.
extension BrowserInterface {
  private static let maximumRows = 1000

  /// Runs a query. Parameters: `entity`, and optionally `where`, `having`, `limit`, `distinct`, and
  /// any number of `sort`, `column` and `group`.
  ///
  /// - Throws: `QueryFailure`, `ArborError`.
  func query(_ request: HTTPRequest) throws -> JSONValue {
    let entity = try entity(of: request)
    let limit = number("limit", of: request, atMost: Self.maximumRows) ?? 100
    return try finding(faultsOf: request, entity) { () throws(ArborError) in
      try answer(wanted(Set(QueryPart.allCases), of: request, entity), limit)
    }
  }

  /// Returns the query of a request after validating its parts.
  ///
  /// - Throws: `QueryFailure`, `ArborError`.
  func checkedQuery(
    _ request: HTTPRequest, _ entity: BrowsedSchema.Entity
  ) throws -> FetchRequest<ManagedObject> {
    try finding(faultsOf: request, entity) { () throws(ArborError) in
      let wanted = try wanted(Set(QueryPart.allCases), of: request, entity)
      _ = try rowPlan(of: wanted)
      return wanted
    }
  }

  private func finding<R>(
    faultsOf request: HTTPRequest, _ entity: BrowsedSchema.Entity,
    _ run: () throws(ArborError) -> R
  ) throws -> R {
    do throws(ArborError) { return try run() } catch {
      guard let field = fieldAtFault(request, entity) else { throw error }
      throw QueryFailure(field: field.rawValue, error: error)
    }
  }

  /// Returns the effect of a hypothetical index on a query: its size and the rows that the query
  /// would read with it. Parameters: those of ``query(_:)`` and any number of `index`, each a
  /// column of the index: a property, with `-` for descending order or `[cd]` for folded text.
  ///
  /// - Throws: `QueryFailure`, `ArborError`.
  func effect(_ request: HTTPRequest) throws -> JSONValue {
    let entity = try entity(of: request)
    var wanted = try checkedQuery(request, entity)
    wanted.sortKeys = Self.keysOfObjects(wanted)
    wanted.propertiesToFetch = []
    wanted.propertiesToGroupBy = []
    wanted.havingPredicate = nil
    wanted.returnsDistinctResults = false
    wanted.fetchLimit = number("limit", of: request, atMost: Self.maximumRows) ?? 100
    if try rowPlan(of: checkedQuery(request, entity)).grouping != nil {
      wanted.sortKeys = []
      wanted.fetchLimit = 0
    }
    return try ProposedIndex(request.parameters("index"), of: entity)
      .effect(on: wanted, in: makeContext()).json
  }

  /// Returns the first part of the query that makes it fail. Returns `nil` if the query itself is
  /// valid.
  private func fieldAtFault(_ request: HTTPRequest, _ entity: BrowsedSchema.Entity) -> QueryPart? {
    var parts: Set<QueryPart> = []
    for part in QueryPart.allCases {
      parts.insert(part)
      do throws(ArborError) {
        var wanted = try wanted(parts, of: request, entity)
        // Grouping columns without others are valid columns.
        if part == .group { wanted.propertiesToFetch = wanted.propertiesToGroupBy }
        wanted.fetchLimit = 1
        _ = try makeContext().fetchRows(wanted)
      } catch {
        return Self.status(of: error) == .badRequest ? part : nil
      }
    }
    return nil
  }

  private func wanted(
    _ parts: Set<QueryPart>, of request: HTTPRequest, _ entity: BrowsedSchema.Entity
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    func texts(_ part: QueryPart) -> [String] {
      parts.contains(part) ? request.parameters(part.rawValue) : []
    }
    var wanted = FetchRequest<ManagedObject>(entity: entity.name)
    wanted.predicate = try predicate(texts(.where))
    wanted.sortKeys = texts(.sort).map { SortKey(stringLiteral: $0) }
    wanted.propertiesToFetch = texts(.column).map { PropertyPath($0) }
    wanted.propertiesToGroupBy = texts(.group).map { PropertyPath($0) }
    try wanted.description.checkExpressions(.untrusted)
    wanted.returnsDistinctResults = request.parameter("distinct") == "true"
    wanted.havingPredicate = try predicate(texts(.having))
    return wanted
  }

  func predicate(_ texts: [String]) throws(ArborError) -> FetchPredicate? {
    guard let text = texts.first, !text.allSatisfy(\.isWhitespace) else { return nil }
    return try FetchPredicate(format: text, limits: .untrusted)
  }

  private func answer(
    _ asked: FetchRequest<ManagedObject>, _ limit: Int
  ) throws(ArborError) -> JSONValue {
    var wanted = asked
    // The additional row reveals whether there are more.
    wanted.fetchLimit = limit + 1
    let context = makeContext()
    let plan = try rowPlan(of: wanted)
    let columns = plan.names
    let identity =
      plan.grouping == nil && !plan.isDistinct ? IdentityColumn.alias(besides: columns) : nil
    var read = wanted
    if let identity {
      if read.propertiesToFetch.isEmpty {
        read.propertiesToFetch = columns.map { PropertyPath(PredicatePrinter.name($0)) }
      }
      read.propertiesToFetch.append(PropertyPath("SELF AS \(identity)"))
    }
    let began = ContinuousClock.now
    let rows = try context.fetchRows(read)
    let time = milliseconds(since: began)
    return [
      "columns": .array(columns.map(JSONValue.string)),
      "rows": .array(
        rows.prefix(limit).map { row in
          .array(
            columns.map {
              ValueJSON.json(row[$0] ?? .null, maximumLength: ValueJSON.maximumLengthInTable)
            })
        }),
      "ids": identity.map { identity in
        .array(rows.prefix(limit).map { RowText.json($0[identity] ?? .null) })
      } ?? .null, "hasMore": .bool(rows.count > limit), "milliseconds": time,
      "plan": try self.plan(wanted, limit, context),
    ]
  }

  func rowPlan(
    of request: FetchRequest<ManagedObject>
  ) throws(ArborError) -> RowPlan {
    let entity = try store.schema.knownEntity(named: request.description.entityName)
    return try RowPlan(request.description, of: entity, in: store.schema)
  }

  /// Returns the plan for finding the objects, with the number of rows of each step.
  private func plan(
    _ request: FetchRequest<ManagedObject>, _ limit: Int, _ context: ManagedObjectContext
  ) throws(ArborError) -> JSONValue {
    var objects = request
    let isAggregated =
      !request.propertiesToGroupBy.isEmpty || request.returnsDistinctResults
      || request.propertiesToFetch.contains {
        $0.keyPath.contains("(") || $0.keyPath.contains("@")
      }
    // Sort keys of grouped rows refer to columns, and their limit applies to groups: the objects
    // are found without either.
    objects.sortKeys = isAggregated ? [] : Self.keysOfObjects(request)
    objects.fetchLimit = isAggregated ? 0 : limit
    let plan = try context.explain(objects, analyze: true)
    var fields: JSONObject = ["root": Self.json(of: plan.root)]
    if !plan.notes.isEmpty { fields["notes"] = .array(plan.notes.map(JSONValue.string)) }
    if let advice = plan.suggestedIndex {
      fields["suggestedIndex"] = .string(advice.summary)
      fields["indexSize"] = try IndexSize(advice, in: context)?.json ?? .null
    }
    return .object(fields)
  }

  /// Returns the sort keys of a request with the names of columns replaced by their expressions,
  /// because only rows have column names.
  private static func keysOfObjects(_ request: FetchRequest<ManagedObject>) -> [SortKey] {
    var expressions: [String: String] = [:]
    for column in request.propertiesToFetch {
      guard let match = column.keyPath.firstMatch(of: #/^(.+?)\s+AS\s+(\S+)$/#.ignoresCase()) else {
        continue
      }
      expressions[String(match.2)] = String(match.1)
    }
    return request.sortKeys.map { key in
      guard let expression = expressions[key.keyPath] else { return key }
      var key = key
      key.keyPath = expression
      return key
    }
  }

  private static func json(of step: QueryPlan.Step) -> JSONValue {
    [
      "kind": .string(step.kind.rawValue), "name": step.name.map(JSONValue.string) ?? .null,
      "detail": .string(step.detail),
      "estimated": step.estimatedRows.map { JSONValue($0) } ?? .null,
      "actual": step.actualRows.map { JSONValue($0) } ?? .null,
      "milliseconds": step.duration.map { milliseconds($0) } ?? .null,
      "keys": step.keysRead.map { JSONValue($0) } ?? .null,
      "records": step.recordsRead.map { JSONValue($0) } ?? .null,
      "inputs": .array(step.inputs.map { json(of: $0) }),
    ]
  }
}

/// The parts of a query written by the user, in the order of their dependencies.
enum QueryPart: String, CaseIterable {
  case `where`, group, column, having, sort
}

/// A query that cannot be run because of an error in one of its parts.
struct QueryFailure: Error {
  let field: String
  let error: ArborError
}
