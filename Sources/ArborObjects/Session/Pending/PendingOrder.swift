internal import ArborModel

/// What a context says of the sequence of one owner's members in an ordered relationship.
///
/// It says nothing of who is a member: that is said pair by pair, by the ``PendingMembers`` it
/// belongs to, as for relationships without an order. Numbers of objects that are no members, or
/// none any more, do not count. So a sequence can be laid over whatever others commit meanwhile.
final class PendingOrder {
  /// A sequence of all members, as somebody has chosen it.
  struct Arrangement {
    let members: [ObjectNumber]
    /// The store's members at that time: whether others have moved them since is told by these.
    let base: [ObjectNumber]
  }

  /// nil: the store's members stand as they do in the store.
  var arrangement: Arrangement?
  /// Whether others may have changed the store's members since ``arrangement`` was chosen.
  var isBehind = false
  /// Who was put behind all others since, in their order.
  var last = MemberList()
  /// Who became a member in a savepoint, for undo; in no other one does it count.
  private var joined: (numbers: Set<ObjectNumber>, epoch: UInt32) = ([], 0)

  func noteJoined(_ member: ObjectNumber, in epoch: UInt32) {
    if joined.epoch != epoch { joined = ([], epoch) }
    joined.numbers.insert(member)
  }

  /// Who has become a member since a savepoint began.
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
