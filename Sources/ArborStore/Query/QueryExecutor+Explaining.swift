internal import ArborModel

extension QueryExecutor {
  /// How a fetch would find its rows. Counts as the planner does, and reads no record.
  func explain() throws -> QueryPlan {
    let plan = try planner.plan()
    var steps = [try access(plan)]
    var isOrdered = query.sortKeys.isEmpty
    if case .ordered = plan.access { isOrdered = true }
    if !plan.residual.isEmpty {
      let words = PlanWords(query)
      steps.append(.init(.filter, detail: words.all(plan.residual)))
    }
    if !isOrdered {
      steps.append(
        .init(.sort, detail: query.sortKeys.map(PlanWords.text(_:)).joined(separator: ", ")))
    }
    if query.limit > 0 || query.offset > 0 {
      let limit = query.limit > 0 ? ["\(query.limit)"] : []
      let offset = query.offset > 0 ? ["offset \(query.offset)"] : []
      steps.append(.init(.limit, detail: (limit + offset).joined(separator: " ")))
    }
    return QueryPlan(steps: steps)
  }

  private func access(_ plan: AccessPlan) throws -> QueryPlan.Step {
    switch plan.access {
    case .nothing: return .init(.nothing, actualRows: 0)
    case .scan:
      let rows = try source.count(family)
      return .init(.scan, name: query.entity.name, estimatedRows: rows, actualRows: rows)
    case .ordered(let walk):
      let direction = walk.isForward ? "in order" : "backward"
      let conditions = conditions(walk.index)
      return .init(
        .index, name: name(of: walk.index),
        detail: conditions.isEmpty ? direction : "\(conditions), \(direction)",
        estimatedRows: plan.residual.isEmpty ? query.rowsNeeded : nil)
    case .numbers(let numbers, let candidate):
      let rows = numbers.count
      switch candidate.way {
      case .objects:
        return .init(.objects, name: query.entity.name, estimatedRows: rows)
      case .index(let index, _, _):
        return .init(
          .index, name: name(of: index), detail: conditions(index), estimatedRows: rows,
          actualRows: rows)
      case .members(let relationship, _, let owners):
        let owner = source.schema.entities[relationship.declaringEntity].name
        return .init(
          .relationship, name: "\(owner).\(relationship.name)",
          detail: "of \(owners.count) \(owners.count == 1 ? "object" : "objects")",
          estimatedRows: rows, actualRows: rows)
      }
    }
  }

  private func name(of index: IndexSchema) -> String {
    "\(source.schema.entities[index.declaringEntity].name).\(index.name)"
  }

  /// A condition as people read it: objects by entity and number.
  private func condition(
    _ condition: ColumnMatch.Condition, on source: IndexSchema.Column.Source
  ) -> ColumnMatch.Condition {
    guard case .toOne = source, case .points(let values) = condition else { return condition }
    return .points(
      values.map { value in
        guard case .integer(let raw) = value else { return value }
        let number = ObjectNumber(rawValue: UInt64(bitPattern: raw))
        return .objectID(self.source.store.objectID(number))
      })
  }

  /// What an index is asked for.
  private func conditions(_ index: IndexSchema) -> String {
    let matches = AccessCandidates(planner.conjuncts, of: query.entity, in: source.store)
      .leadingMatches(of: index)
    return zip(index.columns, matches).map { column, match in
      PlanWords.text(
        query.entity.name(of: column.source), condition(match.condition, on: column.source))
    }.joined(separator: ", ")
  }
}

/// Conditions and sort keys in words, for people who read plans.
private struct PlanWords {
  let arguments: [Value]

  init(_ query: StoreQuery) { arguments = query.predicate?.arguments ?? [] }

  func all(_ nodes: [BoundNode]) -> String {
    nodes.map { text($0, isNested: nodes.count > 1) }.joined(separator: " AND ")
  }

  private func text(_ node: BoundNode, isNested: Bool) -> String {
    switch node {
    case .constant(let isTrue): return isTrue ? "TRUE" : "FALSE"
    case .not(let inner): return "NOT " + text(inner, isNested: true)
    case .comparison(let comparison):
      return
        "\(text(comparison.left)) \(comparison.comparison.rawValue)\(comparison.options.text) "
        + text(comparison.right)
    case .and(let parts), .or(let parts):
      let word = if case .and = node { " AND " } else { " OR " }
      let joined = parts.map { text($0, isNested: true) }.joined(separator: word)
      return isNested ? "(\(joined))" : joined
    }
  }

  private func text(_ expression: BoundExpression) -> String {
    switch expression {
    case .path(let path): Self.text(path)
    case .constant(let value): Self.text(value)
    case .argument(let place):
      arguments.indices.contains(place) ? Self.text(arguments[place]) : "$\(place)"
    case .list(let elements): "{" + elements.map(text(_:)).joined(separator: ", ") + "}"
    }
  }

  static func text(_ key: BoundSortKey) -> String {
    (key.isAscending ? "" : "-") + text(key.path)
  }

  private static func text(_ path: BoundPath) -> String {
    let leaf =
      switch path.leaf {
      case .attribute(let attribute): attribute.name
      case .toOne(let relationship): relationship.name
      case .object: "objectID"
      case .entityName: "entity.name"
      }
    return (path.hops.map(\.name) + [leaf]).joined(separator: ".")
  }

  static func text(_ name: String, _ condition: ColumnMatch.Condition) -> String {
    switch condition {
    case .points(let values):
      if values.count == 1 { return "\(name) == \(text(values[0]))" }
      return "\(name) IN \(values.count) values"
    case .prefix(let prefix): return "\(name) BEGINSWITH \(text(.string(prefix)))"
    case .range(let range):
      var parts: [String] = []
      if !range.lower.isNull {
        parts.append("\(name) \(range.isLowerIncluded ? ">=" : ">") \(text(range.lower))")
      }
      if let upper = range.upper {
        parts.append("\(name) \(range.isUpperIncluded ? "<=" : "<") \(text(upper))")
      }
      return parts.isEmpty ? "\(name) != nil" : parts.joined(separator: " AND ")
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .boolean(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .string(let text): text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    case .date(let date): "\(date)"
    case .binary(let data): "\(data.count) bytes"
    case .uuid(let uuid): "\(uuid)"
    case .uri(let url): "\(url)"
    case .objectID(let id): "\(id.entityName) \(id.number)"
    case .list(let values): "\(values.count) values"
    case .composite(let parts): "\(parts.count) parts"
    }
  }
}
