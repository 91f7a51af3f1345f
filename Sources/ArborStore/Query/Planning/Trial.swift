internal import ArborModel

/// A part of a query that has to be run before the rest can be planned, since no count tells what
/// it finds.
///
/// Planning again with what a part has found is mid-query re-optimisation (N. Kabra, D. DeWitt,
/// SIGMOD 1998). Lists of numbers that are intersected one by one, as long as that wins more than
/// it costs, are the joint scan of G. Antoshenkov (*Dynamic Query Optimization in Rdb/VMS*, 1993).
enum Trial {
  /// Finds the related objects that fulfil a condition, unless that costs as much as the budget.
  case related(RelatedCondition, budget: Int)
  /// Counts the numbers that two lists share.
  ///
  /// - Parameters:
  ///   - of: Where the conjunction stands that they are for; see ``AccessPathSelection``.
  ///   - next: The first of its options that has not been looked at.
  case intersection(CandidateNumbers, CandidateNumbers, of: [Int], next: Int)
}

/// What the trials of a query have found.
struct Findings {
  enum Related {
    case rows(RelatedRows)
    /// Finding them would have cost as much as the budget.
    case abandoned(budget: Int)
  }

  /// The shortest list for a conjunction so far, and the first option that is not in it.
  typealias Intersection = (list: CandidateNumbers, next: Int)

  /// The newest last; there are few, and mostly none.
  private var related: [(condition: RelatedCondition, finding: Related)] = []
  private var intersections: [(position: [Int], finding: Intersection)] = []

  /// What was found for a condition on related objects.
  func related(_ condition: RelatedCondition) -> Related? {
    related.last { $0.condition === condition }?.finding
  }

  /// What was found for the conjunction at a position.
  func intersection(_ position: [Int]) -> Intersection? {
    intersections.last { $0.position == position }?.finding
  }

  mutating func record(_ finding: Related, for condition: RelatedCondition) {
    related.append((condition, finding))
  }

  mutating func record(_ finding: Intersection, for position: [Int]) {
    intersections.append((position, finding))
  }
}

/// What a planner that knows some findings decides.
enum PlanningStep<Plan> {
  /// A trial has to be run, and the planner asked again with its finding.
  case trial(Trial)
  case plan(Plan)
}
