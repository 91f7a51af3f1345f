internal import ArborModel

/// How a query finds its rows: what the planner decided. A value that prints without having run.
struct AccessPlan {
  enum Access {
    case nothing
    /// Every object of the family, in the order of their numbers.
    case scan(rows: Int)
    /// The objects of these numbers.
    case numbers(CandidateNumbers)
    /// The entries of an index in the order of the sort keys.
    case ordered(OrderedAccess)
  }

  let access: Access
  /// The conjuncts that a row has to be asked for.
  let residual: [BoundNode]

  static var nothing: AccessPlan { AccessPlan(access: .nothing, residual: []) }

  /// Whether the numbers that the plan lists are the rows, of which none has to be looked at.
  var isListed: Bool {
    guard residual.isEmpty, case .numbers(let list) = access else { return false }
    return list.areStored
  }
}
