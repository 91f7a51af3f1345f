internal import ArborModel

/// Decides how a query finds its rows: from the query, the schema and ``Counts``, and without
/// reading anything else.
///
/// Looking a record up by its number costs several times what a row of a scan costs, so access
/// paths that find more than a sixteenth of all rows lose to the scan, as a rule.
struct QueryPlanner<Source: Counts> {
  let scope: PlanScope
  let counts: Source

  var query: StoreQuery { scope.query }
  var conjuncts: [Conjunct] { scope.conjunction.conjuncts }
  var family: [EntitySchema] { scope.family }
  var costs: CostModel<Source> { CostModel(schema: scope.schema, counts: counts) }

  /// The planner of what answers a condition on related objects.
  ///
  /// - Throws: ``ArborError`` as ``PlanScope``.
  func planner(of condition: RelatedCondition) throws(ArborError) -> QueryPlanner {
    let predicate = condition.predicate(in: scope.schema)
    let arguments = scope.query.predicate?.arguments ?? []
    let query = StoreQuery(entity: predicate.entity, predicate: (predicate, arguments))
    return QueryPlanner(
      scope: try PlanScope(query, scope.environment, overlay: nil), counts: counts)
  }

  func candidates(_ conjuncts: [Conjunct]) -> AccessCandidates {
    AccessCandidates(conjuncts, of: scope, counts)
  }

  /// The plan for an explanation: what counts can't tell is estimated, and nothing is run.
  func estimatedPlan(withoutOrder: Bool = false) throws -> AccessPlan {
    switch try plan(knowing: nil, withoutOrder: withoutOrder) {
    case .plan(let plan): return plan
    case .trial: stopProgram("A plan by estimates needs no trial.")
    }
  }

  /// The plan to run, or what has to be run before there is one.
  ///
  /// - Parameters:
  ///   - findings: What trials have found; nil to estimate what only they could find.
  ///   - withoutOrder: Whether scans that may be given up are left out.
  func plan(
    knowing findings: Findings?, withoutOrder: Bool = false
  ) throws -> PlanningStep<AccessPlan> {
    if isNeverTrue { return .plan(.nothing) }
    let candidates = candidates(conjuncts)
    let isEarlyEnd = !withoutOrder && query.rowsNeeded != nil && query.groupLimit == nil
    let ordered = isEarlyEnd ? try orderedAccess(candidates) : nil
    if let ordered, ordered.covered.count == conjuncts.count {
      return .plan(AccessPlan(access: .ordered(ordered), residual: []))
    }
    let rows = try counts.objectCount(of: family)
    let scanCost = conjuncts.isEmpty ? 0 : costs.scan(of: rows, asking: conjuncts.map(\.node))
    var best: CandidateNumbers?
    if !conjuncts.isEmpty {
      var selection = AccessPathSelection(
        self, scope.conjunction, candidates, cost: scanCost, findings)
      best = try selection.select()
      if let trial = selection.trial { return .trial(trial) }
    }
    if let ordered, let needed = query.rowsNeeded {
      let rows = best?.count.rows ?? scanCost / Cost.lookup
      // Few rows are sorted sooner than a longer scan finds those that pass the other conditions.
      if rows / 4 > needed {
        return .plan(
          AccessPlan(
            access: .ordered(ordered.limited(to: rows)), residual: nodes(except: ordered.covered)))
      }
    }
    guard let best else { return .plan(scan(of: rows)) }
    return .plan(AccessPlan(access: .numbers(best), residual: nodes(except: best.covered)))
  }

  private func scan(of rows: Int) -> AccessPlan {
    AccessPlan(access: .scan(rows: rows), residual: nodes(except: []))
  }

  /// A plan that meets the rows in the order asked for, wherever it begins, and keeps none: along
  /// an index, or without sort keys by number. nil where the rows have to be sorted.
  func planInOrder() throws -> AccessPlan? {
    if isNeverTrue { return .nothing }
    if query.sortKeys.isEmpty { return scan(of: try counts.objectCount(of: family)) }
    guard query.groupLimit == nil, let ordered = try orderedAccess(candidates(conjuncts)) else {
      return nil
    }
    return AccessPlan(access: .ordered(ordered), residual: nodes(except: ordered.covered))
  }

  /// A plan that lists the rows' numbers, where an index finds few of them or they cannot be met in
  /// order; nil where ``planInOrder()`` is better.
  ///
  /// - Parameter most: How many rows are few.
  func listing(atMost most: Int, knowing findings: Findings) throws -> PlanningStep<AccessPlan?> {
    if isNeverTrue { return .plan(.nothing) }
    if !conjuncts.isEmpty {
      let rows = try counts.objectCount(of: family)
      let cost = min(costs.scan(of: rows, asking: conjuncts.map(\.node)), most * Cost.lookup)
      var selection = AccessPathSelection(
        self, scope.conjunction, candidates(conjuncts), cost: cost, findings)
      let few = try selection.select()
      if let trial = selection.trial { return .trial(trial) }
      // Objects that the predicate names are listed in it.
      if let few, few.count.rows <= most || !few.areStored {
        return .plan(AccessPlan(access: .numbers(few), residual: nodes(except: few.covered)))
      }
    }
    guard try planInOrder() == nil else { return .plan(nil) }
    switch try plan(knowing: findings, withoutOrder: true) {
    case .trial(let trial): return .trial(trial)
    case .plan(let plan): return .plan(plan)
    }
  }

  /// The access path that alone states all that the predicate states, so that its counts are the
  /// answer.
  func exactAccessPath() -> AccessCandidate? {
    let candidates = candidates(conjuncts)
    for option in candidates.all() {
      if let candidate = candidates.candidate(option),
        conjuncts.indices.allSatisfy(candidate.covered.contains)
      {
        return candidate
      }
    }
    return nil
  }

  /// Whether a conjunct is false whatever the row.
  var isNeverTrue: Bool {
    conjuncts.contains { conjunct in
      if case .constant(false) = conjunct.node { true } else { false }
    }
  }

  /// The conjuncts that a row has to be asked for where some are covered.
  private func nodes(except covered: Set<Int>) -> [BoundNode] {
    conjuncts.indices.filter { !covered.contains($0) }.map { conjuncts[$0].node }
  }
}
