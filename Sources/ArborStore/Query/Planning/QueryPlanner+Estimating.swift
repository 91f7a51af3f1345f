internal import ArborModel

/// Estimates for plans that are only explained. They assume that conditions are independent and
/// that related objects are evenly distributed.
extension QueryPlanner {
  /// Estimates the number of rows of an access path whose related objects are not known yet.
  func estimate(_ candidate: AccessCandidate) throws -> RowCount {
    var share = 1.0
    for related in candidate.related {
      let all = try counts.objectCount(of: related.scope.family)
      share *= Double(related.count.rows) / Double(max(1, all))
    }
    if case .index(_, _, let matches) = candidate.accessPath {
      for match in matches where match.related == nil { share *= Selectivity.share(of: match) }
    }
    return .estimate(Selectivity.rows(try counts.objectCount(of: family), min(1, share)))
  }

  /// Estimates the size of the intersection of two lists.
  func estimate(_ one: CandidateNumbers, _ other: CandidateNumbers) throws -> RowCount {
    let all = try counts.objectCount(of: family)
    return .estimate(
      Selectivity.rows(one.count.rows, Double(other.count.rows) / Double(max(1, all))))
  }

  /// Estimates the number of related objects that a plan of this planner finds and, for a to-many
  /// relationship, the number of their owners.
  func estimate(
    _ condition: RelatedCondition, _ plan: AccessPlan, owners: [EntitySchema]
  ) throws -> RelatedRows {
    let count = estimate(plan)
    let isToMany = condition.relationship.isToMany
    return RelatedRows(
      condition, of: scope, plan: plan, count: count,
      owners: isToMany ? .estimate(min(count.rows, try counts.objectCount(of: owners))) : nil)
  }

  /// Estimates the number of rows of a plan.
  private func estimate(_ plan: AccessPlan) -> RowCount {
    let count: RowCount =
      switch plan.access {
      case .nothing: .exact(0)
      case .scan(let rows): .exact(rows)
      case .numbers(let list): list.count
      case .ordered, .skipping: .estimate(query.rowsNeeded ?? 0)
      }
    guard !plan.residual.isEmpty else { return count.isExact ? .exact(count.rows) : count }
    return .estimate(Selectivity.rows(count.rows, Selectivity.share(of: plan.residual)))
  }
}

/// The selectivity of conditions without a known count: the constants of System R (P. Selinger et
/// al., *Access Path Selection in a Relational Database Management System*, 1979).
enum Selectivity {
  private static let equality = 0.1
  private static let range = 1.0 / 3

  /// Returns the combined selectivity of independent conditions.
  static func share(of nodes: [BoundNode]) -> Double { nodes.reduce(1) { $0 * share(of: $1) } }

  private static func share(of node: BoundNode) -> Double {
    guard case .comparison(let comparison) = node, comparison.comparison == .equal else {
      return range
    }
    return equality
  }

  static func share(of match: ColumnMatch) -> Double {
    switch match.condition {
    case .points(let values): min(1, Double(values.count) * equality)
    case .range, .prefix: range
    }
  }

  /// Returns the number of remaining rows. It is at least one unless there can be none.
  static func rows(_ rows: Int, _ share: Double) -> Int {
    rows == 0 || share == 0 ? 0 : max(1, Int((Double(rows) * share).rounded()))
  }
}
