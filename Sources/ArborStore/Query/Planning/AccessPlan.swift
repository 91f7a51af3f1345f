internal import ArborModel

/// The plan by which a query finds its rows. It can be printed without having run.
struct AccessPlan {
  enum Access {
    case nothing
    /// All objects of the family, in the order of their numbers.
    case scan(rows: Int)
    /// The objects with these numbers.
    case numbers(CandidateNumbers)
    /// The entries of an index in the order of the sort keys.
    case ordered(OrderedAccess)
    /// The entries of an index that determine the groups of the query.
    case skipping(SkipScan)
  }

  let access: Access
  /// The conjuncts that are evaluated on each row.
  let residual: [BoundNode]

  static var nothing: AccessPlan { AccessPlan(access: .nothing, residual: []) }

  /// Whether the listed numbers are exactly the rows, so that no record has to be read.
  var isListed: Bool {
    guard residual.isEmpty, case .numbers(let list) = access else { return false }
    return list.areStored
  }
}
