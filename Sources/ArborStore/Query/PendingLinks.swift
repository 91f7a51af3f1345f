package import ArborModel

/// The uncommitted changes of one owner's members in one to-many relationship.
///
/// What is said of a member may be true in the store already: another context may have committed
/// the same link since.
package protocol PendingLinks: AnyObject {
  /// The members beyond the store's.
  var addedMembers: [ObjectNumber] { get }
  /// The store's members that are none any more.
  var removedMembers: [ObjectNumber] { get }

  /// Whether an object is a member; nil where the changes do not tell.
  func says(_ member: ObjectNumber) -> Bool?

  /// The members, the changes laid over the store's.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber]
}

extension PendingLinks {
  /// The number of members, of which `isStored` tells whether they are some in the store.
  func memberCount(over stored: Int, isStored: (ObjectNumber) throws -> Bool) rethrows -> Int {
    var count = stored
    for member in removedMembers where try isStored(member) { count -= 1 }
    for member in addedMembers where try !isStored(member) { count += 1 }
    return count
  }
}
