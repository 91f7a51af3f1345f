internal import ArborModel

/// The pending order of one owner's members in an ordered relationship.
///
/// It doesn't determine membership, which is represented pair by pair in the corresponding
/// ``PendingMembers``, as for unordered relationships. Objects that aren't members are ignored.
/// Therefore an order can be applied to the results of any other commits.
final class PendingOrder {
  /// An order of all members, as set by the program.
  struct Arrangement {
    let members: [ObjectNumber]
    /// The stored members at that time, to determine whether other commits have moved them since.
    let base: [ObjectNumber]
  }

  /// The arrangement, or `nil` if stored members keep their stored order.
  var arrangement: Arrangement?
  /// Whether other commits may have changed the stored members since ``arrangement`` was set.
  var isBehind = false
  /// The members moved to the end, in order. If there is an arrangement, they were moved after it
  /// was set.
  var last = MemberList()
  /// The objects that became members in an epoch, for undo.
  private var joined: (numbers: Set<ObjectNumber>, epoch: UInt32) = ([], 0)

  func noteJoined(_ member: ObjectNumber, in epoch: UInt32) {
    if joined.epoch != epoch { joined = ([], epoch) }
    joined.numbers.insert(member)
  }

  /// Returns the objects that have become members since an epoch began.
  func joined(in epoch: UInt32) -> Set<ObjectNumber> {
    joined.epoch == epoch ? joined.numbers : []
  }

  /// An independent copy, for savepoints.
  var copy: PendingOrder {
    let copy = PendingOrder()
    copy.arrangement = arrangement
    copy.isBehind = true
    copy.last = last.copy
    return copy
  }
}
