internal import ArborModel

/// Finds the cheapest list of object numbers that holds all rows of a conjunction, by exact counts.
///
/// Each access path is walked at most until it is certain that it costs more than the best one so
/// far, or than the alternative that whoever asks has: a scan, at the top.
struct AccessPathSelection {
  /// Up to so many rows an access path is always better than a scan.
  private static let fewRows = 16
  /// An access path that finds no more is taken without looking at others.
  private static let fewCandidates = 8
  /// Fewer rows than this are read sooner than a second list is made to leave some of them out.
  private static let minimumIntersection = 64

  let scope: PlanScope
  let conjunction: Conjunction
  private var candidates: AccessCandidates
  private let collector: CandidateCollector
  /// What the best list costs, its records' reading included; at first what it has to beat.
  private var cost: Int
  private var best: CandidateNumbers?
  /// The access paths by index or relationship that there are, for intersections.
  private var options: [AccessOption]

  /// - Parameter cost: What a list has to be cheaper than, in units of ``CostModel``.
  init(_ conjunction: Conjunction, _ candidates: AccessCandidates, _ scope: PlanScope, cost: Int) {
    self.scope = scope
    self.conjunction = conjunction
    self.candidates = candidates
    self.cost = cost
    collector = CandidateCollector(source: scope.source, family: scope.family)
    options = candidates.all()
  }

  /// What a scan costs that asks every row for a conjunction.
  static func scanCost(_ conjunction: Conjunction, rows: Int, _ source: QuerySource) -> Int {
    CostModel.product(
      rows, CostModel.sum(1, CostModel(source).cost(of: conjunction.conjuncts.map(\.node))))
  }

  /// The best list, or nil where none is cheap enough.
  mutating func select() throws -> CandidateNumbers? {
    try take(options)
    if isDone { return best }
    for (place, conjunct) in conjunction.conjuncts.enumerated()
    where !conjunct.alternatives.isEmpty {
      try unite(conjunct.alternatives, place)
    }
    if isDone { return best }
    for condition in conjunction.related where scope.mayRelate(condition) {
      try relate(condition)
      if isDone { return best }
    }
    try intersect()
    return best
  }

  private var isDone: Bool { best.map { $0.numbers.count <= Self.fewCandidates } ?? false }

  /// What each row costs that is found where some conjuncts are covered.
  private func rowCost(_ covered: Set<Int>) -> Int {
    var cost = CostModel.lookup
    for (place, conjunct) in conjunction.conjuncts.enumerated() where !covered.contains(place) {
      cost = CostModel.sum(cost, CostModel(scope.source).cost(of: [conjunct.node]))
    }
    return cost
  }

  /// How many rows a list may have to be better than the best.
  private func most(_ covered: Set<Int>) -> Int {
    let most = (cost - 1) / rowCost(covered)
    return best == nil ? max(most, Self.fewRows) : most
  }

  private mutating func adopt(_ list: CandidateNumbers) {
    best = list
    cost = CostModel.product(list.numbers.count, rowCost(list.covered))
  }

  // MARK: Single access paths

  private mutating func take(_ options: [AccessOption]) throws {
    for option in options {
      guard let accessPath = candidates.candidate(option) else { continue }
      let most: Int
      let effort = max(cost, Self.fewRows * CostModel.lookup)
      switch accessPath.accessPath {
      // An object that is named is looked up; there is nothing to count.
      case .objects: most = .max
      case .index, .words, .members, .inverse:
        most = self.most(Set(accessPath.covered))
        guard accessPath.lookups <= max(most, Self.fewRows) else { continue }
      }
      guard let numbers = try collector.collect(accessPath, atMost: most, effort: effort) else {
        continue
      }
      adopt(CandidateNumbers(numbers, accessPath))
      if isDone { return }
    }
  }

  // MARK: Unions

  /// The rows of a disjunction are those of its alternatives.
  private mutating func unite(_ alternatives: [Conjunction], _ place: Int) throws {
    var numbers: [UInt64] = []
    var sources: [NumberSource] = []
    var isExact = true
    var areStored = true
    var room = most([]) * CostModel.lookup
    for alternative in alternatives {
      var selection = AccessPathSelection(
        alternative, AccessCandidates(alternative.conjuncts, of: scope), scope, cost: room)
      guard let list = try selection.select() else { return }
      numbers += list.numbers
      sources.append(list.source)
      isExact = isExact && list.covered.count == alternative.conjuncts.count
      areStored = areStored && list.areStored
      room -= list.numbers.count * CostModel.lookup
      guard room >= 0 else { return }
    }
    SortedNumbers.sortUnique(&numbers)
    let list = CandidateNumbers(
      numbers, NumberSource(.union(sources), rows: numbers.count), covered: isExact ? [place] : [],
      areStored: areStored)
    if numbers.count <= most(list.covered) { adopt(list) }
  }

  // MARK: Relationships

  /// Finds the related objects that fulfil a condition, then what leads to them.
  private mutating func relate(_ condition: RelatedCondition) throws {
    let executor = try scope.executor(of: condition)
    let plan = try executor.planner.plan()
    guard try executor.cost(of: plan) < cost else { return }
    if condition.relationship.isToMany { return try relateOwners(condition, executor, plan) }
    let numbers = try executor.numbers(plan)
    let rows = RelatedRows(condition, executor: executor, plan: plan, numbers: numbers)
    guard !numbers.isEmpty else {
      return adopt(
        CandidateNumbers(
          [], NumberSource(.unrelated(rows), rows: 0),
          covered: Set(conjunction.conjuncts.indices)))
    }
    guard numbers.count * CostModel.seek < cost else { return }
    let opened = candidates.add(rows)
    options += opened
    try take(opened)
  }

  /// Finds the members that fulfil a condition, then those whose members they are.
  private mutating func relateOwners(
    _ condition: RelatedCondition, _ executor: QueryExecutor, _ plan: AccessPlan
  ) throws {
    let found = try executor.owners(of: condition.relationship, plan, effort: cost)
    guard let found else { return }
    let numbers = found.owners.filter { collector.isInFamily(ObjectNumber(rawValue: $0)) }
    let rows = RelatedRows(condition, executor: executor, plan: plan, numbers: found.members)
    let list = CandidateNumbers(
      numbers, NumberSource(.owners(rows), rows: numbers.count), covered: Set(condition.places))
    if numbers.count <= most(list.covered) { adopt(list) }
  }

  // MARK: Intersections

  /// Leaves out numbers that another access path does not find, where that costs less than reading
  /// their records.
  private mutating func intersect() throws {
    guard options.count > 1, best.map({ $0.numbers.count > Self.minimumIntersection }) ?? true
    else { return }
    var list = best
    // An access path that is not worth it alone may be with another one; the try shall cost a part
    // of what there is to win.
    let effort = cost / 4
    for option in options {
      guard let accessPath = candidates.candidate(option), accessPath.isCountable,
        !(list?.covered.isSuperset(of: accessPath.covered) ?? false)
      else { continue }
      let most = list.map { $0.numbers.count * 4 } ?? effort
      guard let numbers = try collector.collect(accessPath, atMost: most, effort: effort) else {
        break
      }
      let found = CandidateNumbers(numbers, accessPath)
      guard let narrower = list else {
        list = found
        continue
      }
      let common = SortedNumbers.intersection(narrower.numbers, numbers)
      guard common.count < narrower.numbers.count else { continue }
      var sources = [narrower.source]
      if case .intersection(let inner) = narrower.source.kind { sources = inner }
      list = CandidateNumbers(
        common, NumberSource(.intersection(sources + [found.source]), rows: common.count),
        covered: narrower.covered.union(found.covered), areStored: narrower.areStored)
      if common.count <= Self.minimumIntersection { break }
    }
    if let list, list.numbers.count <= most(list.covered) { adopt(list) }
  }
}

extension AccessCandidate {
  /// Whether the access path's numbers are kept in lists, each with its count.
  fileprivate var isCountable: Bool {
    switch accessPath {
    case .objects, .inverse: false
    case .index, .words, .members: true
    }
  }
}
