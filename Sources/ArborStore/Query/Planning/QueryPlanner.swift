internal import ArborModel

/// Decides how a query finds its rows, based only on the query, the schema and ``Counts``.
///
/// Looking up a record by number costs several times as much as a row of a scan. As a rule, access
/// paths that find more than a sixteenth of all rows therefore lose to the scan.
struct QueryPlanner<Counter: Counts> {
  let scope: PlanScope
  let counts: Counter

  var query: StoreQuery { scope.query }
  var conjuncts: [Conjunct] { scope.conjunction.conjuncts }
  var family: [EntitySchema] { scope.family }
  var costs: CostModel<Counter> { CostModel(schema: scope.schema, counts: counts) }

  /// Returns the planner for the query that finds the related objects that satisfy a condition.
  ///
  /// - Throws: The same errors as the initializer of ``PlanScope``.
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

  /// Returns the plan for an explanation. Unknown counts are estimated and nothing is run.
  func estimatedPlan(withoutOrder: Bool = false) throws -> AccessPlan {
    switch try plan(knowing: nil, withoutOrder: withoutOrder) {
    case .plan(let plan): return plan
    case .trial: stopProgram("An estimated plan must not require a trial.")
    }
  }

  /// Returns the plan to run, or the trial that has to run first.
  ///
  /// - Parameters:
  ///   - findings: The findings of earlier trials, or `nil` to estimate instead.
  ///   - withoutOrder: Whether to exclude ordered scans that may be abandoned.
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
    let skipping = withoutOrder ? nil : try skipScan(candidates)
    // Even counting the rows of the groups would read all of their keys.
    if let skipping, let groups = skipping.namedGroups, skipping.covered.count == conjuncts.count,
      groups < rows / SkipScan.leastSize
    {
      return .plan(AccessPlan(access: .skipping(skipping), residual: []))
    }
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
      // Sorting few rows is faster than a longer scan for rows that pass the other conditions.
      if rows / 4 > needed {
        return .plan(
          AccessPlan(
            access: .ordered(ordered.limited(to: rows)), residual: nodes(except: ordered.covered)))
      }
    }
    if let skipping {
      let rows = best?.count.rows ?? rows
      if rows >= SkipScan.leastRows {
        return .plan(
          AccessPlan(
            access: .skipping(skipping.limited(to: rows / SkipScan.leastSize)),
            residual: nodes(except: skipping.covered)))
      }
    }
    guard let best else { return .plan(scan(of: rows)) }
    return .plan(AccessPlan(access: .numbers(best), residual: nodes(except: best.covered)))
  }

  private func scan(of rows: Int) -> AccessPlan {
    AccessPlan(access: .scan(rows: rows), residual: nodes(except: []))
  }

  /// Returns a plan that visits the rows in the requested order, from any position and without
  /// collecting them: along an index, or by number if there are no sort keys. Returns `nil` if the
  /// rows have to be sorted.
  func planInOrder() throws -> AccessPlan? {
    if isNeverTrue { return .nothing }
    if query.sortKeys.isEmpty { return scan(of: try counts.objectCount(of: family)) }
    guard query.groupLimit == nil, let ordered = try orderedAccess(candidates(conjuncts)) else {
      return nil
    }
    return AccessPlan(access: .ordered(ordered), residual: nodes(except: ordered.covered))
  }

  /// Returns a plan that lists the rows' numbers if an index finds few of them or they cannot be
  /// visited in order. Returns `nil` if ``planInOrder()`` is better.
  ///
  /// - Parameter most: The maximum number of rows for which a list is preferred.
  func listing(atMost most: Int, knowing findings: Findings) throws -> PlanningStep<AccessPlan?> {
    if isNeverTrue { return .plan(.nothing) }
    if !conjuncts.isEmpty {
      let rows = try counts.objectCount(of: family)
      let cost = min(costs.scan(of: rows, asking: conjuncts.map(\.node)), most * Cost.lookup)
      var selection = AccessPathSelection(
        self, scope.conjunction, candidates(conjuncts), cost: cost, findings)
      let few = try selection.select()
      if let trial = selection.trial { return .trial(trial) }
      // Objects that the predicate names are always listed.
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

  /// Returns the access path that alone covers the whole predicate, so that its count is the
  /// result, or `nil` if there isn't one.
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

  /// Whether a conjunct is the constant `false`.
  var isNeverTrue: Bool {
    conjuncts.contains { conjunct in
      if case .constant(false) = conjunct.node { true } else { false }
    }
  }

  /// Returns the conjuncts that remain to be evaluated on each row.
  private func nodes(except covered: Set<Int>) -> [BoundNode] {
    conjuncts.indices.filter { !covered.contains($0) }.map { conjuncts[$0].node }
  }
}
