internal import ArborModel

/// The pending sequence of one owner's members in an ordered relationship.
///
/// It says nothing of who is a member: that is said pair by pair, by the ``PendingMembers`` it
/// belongs to, as for relationships without an order. Numbers of objects that are no members, or
/// none any more, do not count. So a sequence can be laid over whatever others commit meanwhile.
final class PendingOrder {
  /// A sequence of all members, as the program has set it.
  struct Arrangement {
    let members: [ObjectNumber]
    /// The store's members at that time, to determine whether others have moved them since.
    let base: [ObjectNumber]
  }

  /// nil: the store's members stand as they do in the store.
  var arrangement: Arrangement?
  /// Whether others may have changed the store's members since ``arrangement`` was chosen.
  var isBehind = false
  /// The members that were moved to the end since, in their order.
  var last = MemberList()
  /// The objects that became members in a savepoint, for undo.
  private var joined: (numbers: Set<ObjectNumber>, epoch: UInt32) = ([], 0)

  func noteJoined(_ member: ObjectNumber, in epoch: UInt32) {
    if joined.epoch != epoch { joined = ([], epoch) }
    joined.numbers.insert(member)
  }

  /// The objects that have become members since a savepoint began.
  func joined(in epoch: UInt32) -> Set<ObjectNumber> {
    joined.epoch == epoch ? joined.numbers : []
  }

  /// The same, sharing nothing, for savepoints.
  var copy: PendingOrder {
    let copy = PendingOrder()
    copy.arrangement = arrangement
    copy.isBehind = true
    copy.last = last.copy
    return copy
  }
}
