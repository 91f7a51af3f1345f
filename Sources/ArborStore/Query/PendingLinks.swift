package import ArborModel

/// The uncommitted changes of one owner's members in one to-many relationship.
///
/// What is said of a member may be true in the store already: another context may have committed
/// the same link since.
package protocol PendingLinks: AnyObject {
  /// All members in their new order, where the relationship is ordered and has changed; nothing
  /// else counts then.
  var newOrder: [ObjectNumber]? { get }
  /// The members beyond the store's.
  var addedMembers: [ObjectNumber] { get }
  /// The store's members that are none any more.
  var removedMembers: [ObjectNumber] { get }

  /// Whether an object is a member; nil where the changes do not tell.
  func says(_ member: ObjectNumber) -> Bool?
}

extension PendingLinks {
  /// The members, the changes laid over the store's.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber] {
    if let newOrder { return newOrder }
    var members = stored.filter { says($0) ?? true }
    let present = Set(members)
    let added = addedMembers.filter { !present.contains($0) }
    guard !added.isEmpty else { return members }
    members += added
    members.sort()
    return members
  }

  /// The number of members.
  ///
  /// - Parameter isStored: Whether an object is a member in the store.
  func memberCount(
    over stored: Int, isStored: (ObjectNumber) throws -> Bool
  ) rethrows -> Int {
    if let newOrder { return newOrder.count }
    var count = stored
    for member in removedMembers where try isStored(member) { count -= 1 }
    for member in addedMembers where try !isStored(member) { count += 1 }
    return count
  }
}
