internal import ArborModel

extension QueryExecutor {
  /// A planner for the same query, which counts object numbers but doesn't gather them.
  private var explaining: QueryPlanner<StoredCounts> {
    QueryPlanner(scope: planner.scope, counts: StoredCounts(source))
  }

  /// Returns the plan of a fetch, from counts alone. Runs nothing: results that only a run could
  /// determine are estimated.
  ///
  /// - Parameter showsValues: Whether the values of conditions are shown.
  func explain(showsValues: Bool = true) throws -> QueryPlan {
    try explaining.explain(explaining.estimatedPlan(), showsValues: showsValues)
  }

  /// Runs the fetch and returns its plan with the number of rows after each step.
  func analyze(showsValues: Bool) throws -> QueryPlan {
    let tally = RowTally()
    self.tally = tally
    let began = ContinuousClock.now
    let rows = try fetch(SlabAllocator()).rows.count
    let duration = began.duration(to: .now)
    self.tally = nil
    let counts = PlanExplainer.Counts(
      visited: tally.visited, accepted: tally.accepted, rows: rows,
      reading: max(.zero, duration - tally.filtering - tally.sorting), filtering: tally.filtering,
      sorting: tally.sorting)
    let keys = source.keyTally?.keys ?? [:]
    guard case .rows(let plan) = ran else { return try explain(showsValues: showsValues) }
    return try explaining.explain(plan, showsValues: showsValues, counts, keysRead: keys)
  }

  /// Returns the plan for computing aggregates of the rows.
  func explain(_ aggregates: [BoundAggregate], showsValues: Bool) throws -> QueryPlan {
    let planner = explaining
    let ran: Ran =
      if let ends = try planner.ends(for: aggregates) {
        .ends(ends)
      } else if let attribute = aggregates.singleAttribute,
        let covering = try planner.coveringIndex(attribute)
      {
        .keys(covering)
      } else {
        .rows(try planner.estimatedPlan())
      }
    return try planner.explain(ran, aggregates, showsValues: showsValues)
  }

  /// Returns the plan that answered the query, or `nil` if the executor has not run.
  ///
  /// - Parameter aggregates: The aggregates that were computed. Empty for rows.
  func planThatRan(
    _ aggregates: [BoundAggregate] = [], showsValues: Bool = false
  ) throws -> QueryPlan? {
    try ran.map { try explaining.explain($0, aggregates, showsValues: showsValues) }
  }
}

extension QueryPlanner<StoredCounts> {
  fileprivate func explain(
    _ plan: AccessPlan, showsValues: Bool, _ counts: PlanExplainer.Counts? = nil,
    keysRead: [String: Int] = [:]
  ) throws -> QueryPlan {
    let explainer = PlanExplainer(scope, showsValues: showsValues, counts, keysRead: keysRead)
    let root = explainer.root(plan)
    return QueryPlan(
      root, suggestedIndex: keepsMost(root) ? nil : try IndexAdvisor(self).advice(for: plan),
      notes: query.notes)
  }

  /// Returns whether a condition kept more than half of the rows it was evaluated on. An index
  /// would then read the rows in another order, but hardly fewer of them. It is still useful for
  /// the order of a limited query.
  private func keepsMost(_ step: QueryPlan.Step) -> Bool {
    guard query.limit == 0 || query.sortKeys.isEmpty else { return false }
    if step.kind == .filter, let kept = step.actualRows,
      let asked = step.inputs.first?.actualRows ?? step.inputs.first?.estimatedRows
    {
      return kept * 2 > asked
    }
    return step.inputs.contains(where: keepsMost)
  }

  fileprivate func explain(
    _ ran: QueryExecutor.Ran, _ aggregates: [BoundAggregate], showsValues: Bool
  ) throws -> QueryPlan {
    let explainer = PlanExplainer(scope, showsValues: showsValues)
    let detail = aggregates.map { aggregate in
      let name = aggregate.function.rawValue
      return showsValues && !aggregate.text.isEmpty ? "\(name) \(aggregate.text)" : name
    }.joined(separator: ", ")
    func aggregating(_ inputs: [QueryPlan.Step]) -> QueryPlan.Step {
      QueryPlan.Step(.aggregate, detail: detail, inputs: inputs)
    }
    switch ran {
    case .ends(let ends):
      return QueryPlan(aggregating(ends.map { explainer.step(end: $0) }), notes: query.notes)
    case .counts(let candidate, let count):
      let list = CandidateNumbers(candidate, .exact(count))
      return QueryPlan(
        explainer.root(AccessPlan(access: .numbers(list), residual: [])), notes: query.notes)
    case .groups(let step): return QueryPlan(step, notes: query.notes)
    case .keys(let covering):
      return QueryPlan(aggregating([explainer.step(covering)]), notes: query.notes)
    case .rows(let plan):
      let root = explainer.root(plan)
      return QueryPlan(
        aggregates.isEmpty ? root : aggregating([root]),
        suggestedIndex: try IndexAdvisor(self).advice(for: plan), notes: query.notes)
    }
  }
}
