internal import ArborModel

/// Selects the cheapest list of object numbers that contains all rows of a conjunction: cost-based
/// access path selection that counts the query's own keys instead of using statistics.
///
/// Counting an access path stops as soon as it is certain to cost more than the best one so far, or
/// than the caller's alternative (a scan, at the top level). Result sizes that no count provides
/// are determined by a ``Trial``, or estimated if the plan is only explained.
struct AccessPathSelection<Counter: Counts> {
  /// The number of rows up to which an access path is always better than a scan.
  private static var fewRows: Int { 16 }
  /// The number of rows up to which an access path is chosen without counting the others.
  private static var fewCandidates: Int { 8 }
  /// The number of rows below which reading them is faster than gathering a second list to exclude
  /// some.
  private static var minimumIntersection: Int { 64 }

  private let planner: QueryPlanner<Counter>
  private let conjunction: Conjunction
  /// The position of the conjunction in the predicate. Empty at the top level; an alternative
  /// appends the indices of the conjunct and of the alternative to the position of the enclosing
  /// conjunction.
  private let position: [Int]
  /// The findings of trials, or `nil` to estimate.
  private let findings: Findings?
  private var candidates: AccessCandidates
  /// The cost of the best list, including reading its records; initially the cost to undercut.
  private var cost: Int
  private var best: CandidateNumbers?
  /// The access paths by index or relationship, for intersections.
  private var options: [AccessOption]
  /// The trial that has to run before the selection can finish.
  private(set) var trial: Trial?

  private var scope: PlanScope { planner.scope }

  /// - Parameter cost: The cost that a list has to undercut, in units of ``Cost``.
  init(
    _ planner: QueryPlanner<Counter>, _ conjunction: Conjunction, _ candidates: AccessCandidates,
    at position: [Int] = [], cost: Int, _ findings: Findings?
  ) {
    self.planner = planner
    self.conjunction = conjunction
    self.candidates = candidates
    self.position = position
    self.cost = cost
    self.findings = findings
    options = candidates.all()
  }

  /// Returns the best list, or `nil` if none is cheap enough. The result is meaningless if
  /// ``trial`` is set.
  mutating func select() throws -> CandidateNumbers? {
    try count(options)
    if isDone { return best }
    for (index, conjunct) in conjunction.conjuncts.enumerated()
    where !conjunct.alternatives.isEmpty {
      try unite(conjunct.alternatives, index)
      if trial != nil { return nil }
    }
    if isDone { return best }
    for condition in conjunction.related where scope.mayRelate(condition) {
      try relate(condition)
      if trial != nil { return nil }
      if isDone { return best }
    }
    try intersect()
    return best
  }

  private var isDone: Bool { best.map { $0.count.rows <= Self.fewCandidates } ?? false }

  /// Returns the cost per row of a list that covers some conjuncts.
  private func rowCost(_ covered: Set<Int>) -> Int {
    var cost = Cost.lookup
    for (index, conjunct) in conjunction.conjuncts.enumerated() where !covered.contains(index) {
      cost = Cost.sum(cost, planner.costs.cost(of: [conjunct.node]))
    }
    return cost
  }

  /// Returns the maximum number of rows with which a list beats the best one.
  private func most(_ covered: Set<Int>) -> Int {
    let most = (cost - 1) / rowCost(covered)
    return best == nil ? max(most, Self.fewRows) : most
  }

  private mutating func adopt(_ list: CandidateNumbers) {
    best = list
    cost = Cost.product(list.count.rows, rowCost(list.covered))
  }

  // MARK: Single access paths

  /// Counts access paths, the most promising first, and adopts each one that costs less than the
  /// best.
  private mutating func count(_ options: [AccessOption]) throws {
    for option in options {
      guard let candidate = candidates.candidate(option) else { continue }
      let most: Int
      let effort = max(cost, Self.fewRows * Cost.lookup)
      switch candidate.accessPath {
      // Named objects are looked up directly. There is nothing to count.
      case .objects: most = .max
      case .index, .words, .members, .inverse:
        most = self.most(Set(candidate.covered))
        guard candidate.lookups <= max(most, Self.fewRows) else { continue }
      }
      guard let count = try count(candidate, upTo: most, effort: effort) else { continue }
      adopt(CandidateNumbers(candidate, count))
      if isDone { return }
    }
  }

  private func count(
    _ candidate: AccessCandidate, upTo most: Int, effort: Int
  ) throws -> RowCount? {
    let count =
      candidate.isKnown
      ? try planner.counts.count(candidate, of: scope.family, upTo: most, effort: effort)
      : try planner.estimate(candidate)
    return count.flatMap { $0.isExact || $0.rows <= most ? $0 : nil }
  }

  // MARK: Unions

  /// Considers the union of the alternatives of a disjunction. Its row count is at most the sum of
  /// theirs.
  private mutating func unite(_ alternatives: [Conjunction], _ conjunct: Int) throws {
    var lists: [CandidateNumbers] = []
    var isExact = true
    var room = most([]) * Cost.lookup
    for (index, alternative) in alternatives.enumerated() {
      var selection = AccessPathSelection(
        planner, alternative, planner.candidates(alternative.conjuncts),
        at: position + [conjunct, index], cost: room, findings)
      let list = try selection.select()
      trial = selection.trial
      guard trial == nil, let list else { return }
      lists.append(list)
      isExact = isExact && list.covered.count == alternative.conjuncts.count
      room -= list.count.rows * Cost.lookup
      guard room >= 0 else { return }
    }
    let list = CandidateNumbers(
      .union(lists), .estimate(lists.reduce(0) { $0 + $1.count.rows }),
      covered: isExact ? [conjunct] : [], areStored: lists.allSatisfy(\.areStored))
    if list.count.rows <= most(list.covered) { adopt(list) }
  }

  // MARK: Relationships

  /// Considers a semi-join: finds the related objects that satisfy a condition, then the rows that
  /// refer to them.
  private mutating func relate(_ condition: RelatedCondition) throws {
    guard let findings else {
      let planner = try planner.planner(of: condition)
      let plan = try planner.estimatedPlan()
      guard planner.costs.cost(of: plan) < cost else { return }
      return try join(planner.estimate(condition, plan, owners: scope.family))
    }
    switch findings.related(condition) {
    case .rows(let rows)?: try join(rows)
    case .abandoned(let budget)? where cost <= budget: break
    case .abandoned?, nil: trial = .related(condition, budget: cost)
    }
  }

  private mutating func join(_ rows: RelatedRows) throws {
    if let owners = rows.owners {
      let list = CandidateNumbers(
        .owners(rows), owners, covered: Set(rows.condition.termIndices))
      if owners.rows <= most(list.covered) { adopt(list) }
      return
    }
    guard rows.count.rows > 0 else {
      return adopt(
        CandidateNumbers(
          .unrelated(rows), .gathered([]), covered: Set(conjunction.conjuncts.indices)))
    }
    guard rows.count.rows * Cost.seek < cost else { return }
    let opened = candidates.add(rows)
    options += opened
    try count(opened)
  }

  // MARK: Intersections

  /// Intersects the list with other access paths if that is cheaper than reading the excluded
  /// records.
  private mutating func intersect() throws {
    guard options.count > 1, best.map({ $0.count.rows > Self.minimumIntersection }) ?? true
    else { return }
    let finding = findings?.intersection(position)
    var list = finding?.list ?? best
    // An access path that does not pay off on its own may do so in an intersection. The attempt may
    // cost a fraction of the possible gain.
    let effort = cost / 4
    for (index, option) in options.enumerated().dropFirst(finding?.next ?? 0) {
      if let list, case .intersection = list.source, list.count.rows <= Self.minimumIntersection {
        break
      }
      guard let candidate = candidates.candidate(option), candidate.isCountable,
        !(list?.covered.isSuperset(of: candidate.covered) ?? false)
      else { continue }
      let most = list.map { $0.count.rows * 4 } ?? effort
      guard let count = try count(candidate, upTo: most, effort: effort) else { break }
      let found = CandidateNumbers(candidate, count)
      guard let narrower = list else {
        list = found
        continue
      }
      guard findings == nil else {
        trial = .intersection(narrower, found, of: position, next: index + 1)
        return
      }
      list = narrower.intersection(found, try planner.estimate(narrower, found))
    }
    if let list, list.count.rows <= most(list.covered) { adopt(list) }
  }
}
