internal import ArborModel

/// A part of a query that has to run before the rest can be planned, because no count reports its
/// result size.
///
/// Replanning with the result of a part is mid-query re-optimization (N. Kabra, D. DeWitt, SIGMOD
/// 1998). Intersecting lists one by one while the gain exceeds the cost is the joint scan of G.
/// Antoshenkov (*Dynamic Query Optimization in Rdb/VMS*, 1993).
enum Trial {
  /// Finds the related objects that satisfy a condition, unless that costs as much as the budget.
  case related(RelatedCondition, budget: Int)
  /// Counts the numbers that two lists share.
  ///
  /// - Parameters:
  ///   - of: The position of the conjunction; see ``AccessPathSelection``.
  ///   - next: The index of the first option that has not been considered.
  case intersection(CandidateNumbers, CandidateNumbers, of: [Int], next: Int)
}

/// The results of a query's trials.
struct Findings {
  enum Related {
    case rows(RelatedRows)
    /// The search was abandoned because it would have cost as much as the budget.
    case abandoned(budget: Int)
  }

  /// The shortest list for a conjunction so far, and the index of the first option that has not
  /// been considered.
  typealias Intersection = (list: CandidateNumbers, next: Int)

  /// The findings in order, the newest last. There are few, usually none.
  private var related: [(condition: RelatedCondition, finding: Related)] = []
  private var intersections: [(position: [Int], finding: Intersection)] = []

  /// Returns the newest finding for a condition on related objects, or `nil` if there isn't one.
  func related(_ condition: RelatedCondition) -> Related? {
    related.last { $0.condition === condition }?.finding
  }

  /// Returns the newest finding for the conjunction at a position, or `nil` if there isn't one.
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

/// The decision of a planner that has some findings.
enum PlanningStep<Plan> {
  /// The trial has to run, followed by planning again with its finding.
  case trial(Trial)
  case plan(Plan)
}
