internal import ArborModel

/// Creates plans that can run. If counts are not sufficient, the planner returns a trial instead of
/// a plan; the executor runs it and plans again with its finding.
extension QueryExecutor {
  func plan(withoutOrder: Bool = false) throws -> AccessPlan {
    try runningTrials { try planner.plan(knowing: $0, withoutOrder: withoutOrder) }
  }

  /// Returns a plan that lists the rows' numbers; see ``QueryPlanner/listing(atMost:knowing:)``.
  func listing(atMost most: Int) throws -> AccessPlan? {
    try runningTrials { try planner.listing(atMost: most, knowing: $0) }
  }

  /// Repeats a planning step, running the requested trials, until it returns a plan.
  private func runningTrials<Plan>(
    _ step: (Findings) throws -> PlanningStep<Plan>
  ) throws -> Plan {
    while true {
      switch try step(findings) {
      case .plan(let plan): return plan
      case .trial(let trial): try run(trial)
      }
    }
  }

  private func run(_ trial: Trial) throws {
    switch trial {
    case .related(let condition, let budget):
      let rows = try relatedRows(condition, budget: budget)
      findings.record(rows.map { .rows($0) } ?? .abandoned(budget: budget), for: condition)
    case .intersection(let one, let other, let position, let next):
      let (one, other) = try (gathered(one), gathered(other))
      let common = SortedNumbers.intersection(one.numbers, other.numbers)
      let isShorter = common.count < one.numbers.count
      let list = isShorter ? one.list.intersection(other.list, .gathered(common)) : one.list
      findings.record((list, next), for: position)
    }
  }

  func gathered(_ list: CandidateNumbers) throws -> (list: CandidateNumbers, numbers: [UInt64]) {
    if let numbers = list.count.numbers { return (list, numbers) }
    var numbers: [UInt64] = []
    var source = list.source
    switch list.source {
    case .accessPath(let candidate):
      numbers = try CandidateCollector(source: self.source, family: family).collect(candidate) ?? []
    case .union(let lists):
      let parts = try lists.map { try gathered($0) }
      source = .union(parts.map(\.list))
      for part in parts { numbers += part.numbers }
      SortedNumbers.sortUnique(&numbers)
    case .intersection, .owners, .unrelated:
      stopProgram("The numbers of a trial's result have not been gathered.")
    }
    return (list.gathered(numbers, source), numbers)
  }
}

extension QueryExecutor {
  /// Records the plan that runs and the use of its indexes.
  func note(_ plan: AccessPlan) {
    ran = .rows(plan)
    noteUse(of: plan)
  }

  private func noteUse(of plan: AccessPlan) {
    if case .numbers(let list) = plan.access { noteUse(of: list) }
  }

  /// Records the use of an access path's indexes.
  func noteUse(of candidate: AccessCandidate) {
    if let index = candidate.index { source.noteUse(of: index) }
    for related in candidate.related { noteUse(of: related.plan) }
  }

  private func noteUse(of list: CandidateNumbers) {
    switch list.source {
    case .accessPath(let candidate): noteUse(of: candidate)
    case .union(let lists), .intersection(let lists): for list in lists { noteUse(of: list) }
    case .unrelated(let related), .owners(let related): noteUse(of: related.plan)
    }
  }
}
