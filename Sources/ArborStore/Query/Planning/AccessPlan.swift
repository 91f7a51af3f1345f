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

/// An access path that conditions open, before the keys for it are made: only the access paths that
/// are tried need them.
struct AccessOption {
  enum Kind {
    case objects(ColumnMatch)
    /// An index, and the conditions on its leading columns.
    case index(IndexReference, [ColumnMatch])
    /// An index of words, and which of the conjuncts names words.
    case words(IndexReference, Int)
    /// A to-one relationship, by its slot.
    case members(Int, ColumnMatch)
  }

  let kind: Kind
  /// Access paths with a lower rank find fewer rows, as a rule, and are tried first; of those with
  /// the same rank the ones with the shorter keys.
  let rank: (Int, Int)
}

/// One of an entity's indexes, as plans name it.
///
/// Neither a transaction nor a database belongs to it, so that a plan can be made, kept and printed
/// without a store.
struct IndexReference: Equatable {
  let entity: EntitySchema
  /// Which of the entity's indexes it is.
  let position: Int

  var schema: IndexSchema { entity.indexes[position] }

  /// The form of the index's keys.
  var keyColumns: [KeyDecoder.Column] { entity.keyColumns(of: schema) }

  static func == (left: Self, right: Self) -> Bool {
    left.entity === right.entity && left.position == right.position
  }
}
