internal import ArborModel

/// What a plan that is not going to run supposes, where no count tells: that conditions do not
/// depend on each other and related objects are spread evenly.
extension QueryPlanner {
  /// How many rows an access path finds whose related objects are not known yet.
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

  /// How many numbers two lists share.
  func estimate(_ one: CandidateNumbers, _ other: CandidateNumbers) throws -> RowCount {
    let all = try counts.objectCount(of: family)
    return .estimate(
      Selectivity.rows(one.count.rows, Double(other.count.rows) / Double(max(1, all))))
  }

  /// How many related objects a plan of this planner finds for a condition, and which of some
  /// entities' objects have them as members.
  func estimate(
    _ condition: RelatedCondition, _ plan: AccessPlan, owners: [EntitySchema]
  ) throws -> RelatedRows {
    let count = estimate(plan)
    let isToMany = condition.relationship.isToMany
    return RelatedRows(
      condition, of: scope, plan: plan, count: count,
      owners: isToMany ? .estimate(min(count.rows, try counts.objectCount(of: owners))) : nil)
  }

  /// How many rows a plan gives.
  private func estimate(_ plan: AccessPlan) -> RowCount {
    let count: RowCount =
      switch plan.access {
      case .nothing: .exact(0)
      case .scan(let rows): .exact(rows)
      case .numbers(let list): list.count
      case .ordered: .estimate(query.rowsNeeded ?? 0)
      }
    guard !plan.residual.isEmpty else { return count.isExact ? .exact(count.rows) : count }
    return .estimate(Selectivity.rows(count.rows, Selectivity.share(of: plan.residual)))
  }
}
