internal import ArborModel

extension QueryExecutor {
  /// How a fetch would find its rows. Counts as the planner does.
  ///
  /// - Parameters:
  ///   - showsValues: Whether the values of conditions are shown.
  ///   - analyzes: Whether the fetch is run, to count the rows of every step.
  func explain(showsValues: Bool = true, analyzes: Bool = false) throws -> QueryPlan {
    var plan = try planner.plan()
    var counts: RowCounts?
    if analyzes {
      let tally = RowTally()
      self.tally = tally
      let rows = try fetch(SlabAllocator()).rows.count
      self.tally = nil
      plan = tally.plan ?? plan
      counts = RowCounts(visited: tally.visited, accepted: tally.accepted, rows: rows)
    }
    let advisor = IndexAdvisor(planner)
    let explainer = PlanExplainer(self, PlanWords(query, showsValues: showsValues), counts)
    return QueryPlan(try explainer.root(plan), suggestedIndex: try advisor.advice(for: plan))
  }

  /// How values are made of the rows.
  ///
  /// - Parameter showsValues: Whether the values of conditions, and of expressions, are shown.
  func explain(_ aggregates: [BoundAggregate], showsValues: Bool) throws -> QueryPlan {
    let detail = aggregates.map { aggregate in
      let name = aggregate.function.rawValue
      return showsValues && !aggregate.text.isEmpty ? "\(name) \(aggregate.text)" : name
    }.joined(separator: ", ")
    let explainer = PlanExplainer(self, PlanWords(query, showsValues: showsValues))
    if let ends = try ends(aggregates) {
      return QueryPlan(
        .init(.aggregate, detail: detail, inputs: ends.map { explainer.step(end: $0) }))
    }
    if let attribute = aggregates.singleAttribute,
      let covering = try coveringIndex(attribute)
    {
      return QueryPlan(
        .init(.aggregate, detail: detail, inputs: [explainer.step(covering)]))
    }
    let plan = try planner.plan()
    return QueryPlan(
      .init(.aggregate, detail: detail, inputs: [try explainer.root(plan)]),
      suggestedIndex: try IndexAdvisor(planner).advice(for: plan))
  }
}

/// Counts the rows that a query asks its conditions of.
final class RowTally {
  private(set) var visited = 0
  private(set) var accepted = 0
  /// The plan that was taken at last, where it is no walk in the order of an index.
  private(set) var plan: AccessPlan?

  /// Begins to count anew: a walk that was given up does not count.
  func begin(_ plan: AccessPlan) {
    self.plan = plan
    visited = 0
    accepted = 0
  }

  /// A predicate that counts, or what lets all rows pass and counts them.
  func counting(_ predicate: CompiledPredicate?) -> CompiledPredicate {
    { [self] record, number, resolver in
      visited += 1
      guard predicate?(record, number, resolver) ?? true else { return false }
      accepted += 1
      return true
    }
  }
}

/// How many rows a fetch has visited, kept and given.
private struct RowCounts {
  let visited: Int
  let accepted: Int
  let rows: Int
}

/// Puts a plan into words.
private struct PlanExplainer {
  let executor: QueryExecutor
  let words: PlanWords
  let counts: RowCounts?

  init(_ executor: QueryExecutor, _ words: PlanWords, _ counts: RowCounts? = nil) {
    self.executor = executor
    self.words = words
    self.counts = counts
  }

  private var query: StoreQuery { executor.query }
  private var source: QuerySource { executor.source }

  /// The last step with all before it.
  func root(_ plan: AccessPlan) throws -> QueryPlan.Step {
    var step = try access(plan)
    var isOrdered = query.sortKeys.isEmpty
    if case .ordered = plan.access { isOrdered = true }
    if !plan.residual.isEmpty {
      step = .init(
        .filter, detail: words.all(plan.residual), actualRows: counts?.accepted, inputs: [step])
    }
    if let group = query.groupLimit {
      step = .init(
        .limit, detail: words.text(group), actualRows: counts?.accepted, inputs: [step])
    }
    if !isOrdered {
      let keys = query.sortKeys.map { words.text($0) }.joined(separator: ", ")
      step = .init(.sort, detail: keys, actualRows: counts?.accepted, inputs: [step])
    }
    if query.limit > 0 || query.offset > 0 {
      step = .init(
        .limit, detail: PlanWords.limit(of: query), actualRows: counts?.rows, inputs: [step])
    }
    return step
  }

  private func access(_ plan: AccessPlan) throws -> QueryPlan.Step {
    switch plan.access {
    case .nothing: return .init(.nothing, actualRows: 0)
    case .scan:
      let rows = try source.count(executor.family)
      return .init(
        .scan, name: query.entity.name, estimatedRows: rows, actualRows: counts?.visited ?? rows)
    case .ordered(let walk):
      let direction = walk.isForward ? "in order" : "backward"
      let conditions = conditions(walk.index, walk.matches)
      return .init(
        .index, name: name(of: walk.index),
        detail: conditions.isEmpty ? direction : "\(conditions), \(direction)",
        estimatedRows: plan.residual.isEmpty ? query.rowsNeeded : nil,
        actualRows: counts?.visited)
    case .numbers(let list): return try step(list.source)
    }
  }

  /// A walk that ends at the first row.
  func step(end: OrderedAccess) -> QueryPlan.Step {
    let conditions = conditions(end.index, end.matches)
    let end = (name: name(of: end.index), key: end.isForward ? "first key" : "last key")
    return .init(
      .index, name: end.name,
      detail: conditions.isEmpty ? end.key : "\(conditions), \(end.key)", estimatedRows: 1)
  }

  /// Keys that are read in place of records.
  func step(_ covering: CoveringIndex) -> QueryPlan.Step {
    let conditions = conditions(covering.index, covering.matches)
    return .init(
      .index, name: name(of: covering.index),
      detail: conditions.isEmpty ? "keys alone" : "\(conditions), keys alone")
  }

  private func step(_ source: NumberSource) throws -> QueryPlan.Step {
    switch source.kind {
    case .accessPath(let accessPath): return try step(accessPath, rows: source.rows)
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
    case .owners(let related):
      let relationship = related.condition.relationship
      let inverse = self.source.schema.inverse(of: relationship)
      return .init(
        .relationship, name: name(of: inverse), detail: Self.objects(related.numbers.count),
        estimatedRows: source.rows, actualRows: source.rows, inputs: [try step(related)])
    }
  }

  private func step(_ accessPath: AccessCandidate, rows: Int) throws -> QueryPlan.Step {
    let inputs = try accessPath.related.map { try step($0) }
    switch accessPath.accessPath {
    case .objects:
      return .init(
        .objects, name: query.entity.name, estimatedRows: rows, actualRows: counts?.visited)
    case .index(let index, _, _, let matches):
      return .init(
        .index, name: name(of: index), detail: conditions(index, matches), estimatedRows: rows,
        actualRows: rows, inputs: inputs)
    case .words(let index, _, _, let tokens):
      let column = query.entity.name(of: index.columns[0].source)
      return .init(
        .index, name: name(of: index), detail: "\(column) has \(words.text(tokens))",
        estimatedRows: rows, actualRows: rows)
    case .members(let relationship, _, let owners), .inverse(let relationship, let owners):
      return .init(
        .relationship, name: name(of: relationship), detail: Self.objects(owners.count),
        estimatedRows: rows, actualRows: rows, inputs: inputs)
    }
  }

  private static func objects(_ count: Int) -> String {
    "of \(count) \(count == 1 ? "object" : "objects")"
  }

  private func name(of relationship: RelationshipSchema) -> String {
    "\(source.schema.entities[relationship.declaringEntity].name).\(relationship.name)"
  }

  /// How the objects of another entity are found that the rows are related to.
  private func step(_ related: RelatedRows) throws -> QueryPlan.Step {
    let explainer = PlanExplainer(
      related.executor, PlanWords(related.executor.query, showsValues: words.showsValues))
    let step = try explainer.access(related.plan)
    guard !related.plan.residual.isEmpty else { return step }
    return .init(
      .filter, detail: explainer.words.all(related.plan.residual),
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
      return words.text(name, condition(match.condition, on: column.source))
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
