internal import ArborModel

extension QueryExecutor {
  /// How a fetch would find its rows. Counts as the planner does.
  func explain() throws -> QueryPlan {
    let plan = try planner.plan()
    var step = try access(plan)
    var isOrdered = query.sortKeys.isEmpty
    if case .ordered = plan.access { isOrdered = true }
    if !plan.residual.isEmpty {
      step = .init(.filter, detail: PlanWords(query).all(plan.residual), inputs: [step])
    }
    if !isOrdered {
      let keys = query.sortKeys.map(PlanWords.text(_:)).joined(separator: ", ")
      step = .init(.sort, detail: keys, inputs: [step])
    }
    if query.limit > 0 || query.offset > 0 {
      let limit = query.limit > 0 ? ["\(query.limit)"] : []
      let offset = query.offset > 0 ? ["offset \(query.offset)"] : []
      step = .init(.limit, detail: (limit + offset).joined(separator: " "), inputs: [step])
    }
    return QueryPlan(step)
  }

  private func access(_ plan: AccessPlan) throws -> QueryPlan.Step {
    switch plan.access {
    case .nothing: return .init(.nothing, actualRows: 0)
    case .scan:
      let rows = try source.count(family)
      return .init(.scan, name: query.entity.name, estimatedRows: rows, actualRows: rows)
    case .ordered(let walk):
      let direction = walk.isForward ? "in order" : "backward"
      let conditions = conditions(walk.index, walk.matches)
      return .init(
        .index, name: name(of: walk.index),
        detail: conditions.isEmpty ? direction : "\(conditions), \(direction)",
        estimatedRows: plan.residual.isEmpty ? query.rowsNeeded : nil)
    case .numbers(let list): return try step(list.source)
    }
  }

  private func step(_ source: NumberSource) throws -> QueryPlan.Step {
    switch source.kind {
    case .way(let way): return try step(way, rows: source.rows)
    case .union(let sources):
      return .init(
        .union, estimatedRows: source.rows, actualRows: source.rows,
        inputs: try sources.map { try step($0) })
    case .intersection(let sources):
      return .init(
        .intersection, estimatedRows: source.rows, actualRows: source.rows,
        inputs: try sources.map { try step($0) })
    case .unrelated(let related):
      return .init(.nothing, actualRows: 0, inputs: [try step(related)])
    }
  }

  private func step(_ way: AccessCandidate, rows: Int) throws -> QueryPlan.Step {
    let inputs = try way.related.map { try step($0) }
    switch way.way {
    case .objects:
      return .init(.objects, name: query.entity.name, estimatedRows: rows)
    case .index(let index, _, _, let matches):
      return .init(
        .index, name: name(of: index), detail: conditions(index, matches), estimatedRows: rows,
        actualRows: rows, inputs: inputs)
    case .words(let index, _, _, let tokens):
      let column = query.entity.name(of: index.columns[0].source)
      return .init(
        .index, name: name(of: index), detail: "\(column) has \(PlanWords.text(tokens))",
        estimatedRows: rows, actualRows: rows)
    case .members(let relationship, _, let owners), .inverse(let relationship, let owners):
      let owner = source.schema.entities[relationship.declaringEntity].name
      return .init(
        .relationship, name: "\(owner).\(relationship.name)",
        detail: "of \(owners.count) \(owners.count == 1 ? "object" : "objects")",
        estimatedRows: rows, actualRows: rows, inputs: inputs)
    }
  }

  /// How the objects of another entity are found that the rows are related to.
  private func step(_ related: RelatedRows) throws -> QueryPlan.Step {
    let (executor, plan) = (related.executor, related.plan)
    let step = try executor.access(plan)
    guard !plan.residual.isEmpty else { return step }
    return .init(
      .filter, detail: PlanWords(executor.query).all(plan.residual),
      actualRows: related.numbers.count, inputs: [step])
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
  private func conditions(_ index: IndexSchema, _ matches: [ColumnMatch]) -> String {
    zip(index.columns, matches).map { column, match in
      let name = query.entity.name(of: column.source) + column.kind.options
      if let related = match.related {
        let count = related.numbers.count
        return "\(name) among \(count) \(count == 1 ? "object" : "objects")"
      }
      return PlanWords.text(name, condition(match.condition, on: column.source))
    }.joined(separator: ", ")
  }
}

extension IndexSchema.Column.Kind {
  /// What comparisons overlook that the column serves, as they are written.
  fileprivate var options: String {
    guard case .folded(let folding) = self else { return "" }
    let letters = (folding.contains(.case) ? "c" : "") + (folding.contains(.diacritics) ? "d" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}
