internal import ArborModel
internal import ArborStore

/// The pending membership of an object in a relationship, independent of the stored state: an added
/// link may already exist, and a removed one may not exist.
enum LinkMembership { case added, removed, unmentioned }

/// The pending changes of one owner's members in one to-many relationship.
final class PendingMembers {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
  /// The members added by the context.
  var added = MemberList() { didSet { version += 1 } }
  /// The stored members that were removed.
  var removed = MemberList() { didSet { version += 1 } }
  /// The pending order of an ordered relationship's members, or `nil` if it is unchanged.
  var order: PendingOrder? { didSet { version += 1 } }
  /// The epoch in which ``order`` was last recorded.
  var orderEpoch: UInt32 = 0
  /// The epoch in which the order of the members was last recorded for undo.
  var sequenceEpoch: UInt32 = 0
  /// Members added by concurrent commits, hidden while their deletion is pending in this context.
  var hidden = MemberList() { didSet { version += 1 } }
  /// A number that increases with each change of the members or their order.
  private(set) var version = 0
  /// A closure that returns whether an object's deletion is pending.
  private let isDeleted: (ObjectNumber) -> Bool

  init(
    _ owner: ObjectNumber, _ relationship: RelationshipSchema,
    isDeleted: @escaping (ObjectNumber) -> Bool
  ) {
    self.owner = owner
    self.relationship = relationship
    self.isDeleted = isDeleted
  }

  /// Whether nothing has changed.
  var isEmpty: Bool { added.isEmpty && removed.isEmpty && order?.arrangement == nil }

  /// Whether the members are the stored ones.
  var isSilent: Bool { isEmpty && hidden.isEmpty }

  private func hides(_ member: ObjectNumber) -> Bool {
    hidden.contains(member) && isDeleted(member)
  }

  /// Discards all changes.
  func clear() {
    hidden = MemberList()
    added = MemberList()
    removed = MemberList()
    order = nil
    orderEpoch = 0
    sequenceEpoch = 0
  }

  /// The pending membership of an object.
  subscript(member: ObjectNumber) -> LinkMembership {
    get { added.contains(member) ? .added : removed.contains(member) ? .removed : .unmentioned }
    set {
      if newValue == .added { added.append(member) } else { added.remove(member) }
      if newValue == .removed { removed.append(member) } else { removed.remove(member) }
    }
  }
}

/// The effect of the changes on reads.
extension PendingMembers {
  /// The members added by the context.
  var addedMembers: [ObjectNumber] { added.numbers }
  /// The stored members that were removed or are hidden.
  var removedMembers: [ObjectNumber] {
    hidden.isEmpty ? removed.numbers : removed.numbers + hiddenMembers
  }
  /// The members that are hidden and not removed.
  var hiddenMembers: [ObjectNumber] {
    hidden.numbers.filter { self[$0] == .unmentioned && hides($0) }
  }

  /// Returns whether an object is a member, or `nil` if the changes don't determine this.
  func says(_ member: ObjectNumber) -> Bool? {
    switch self[member] {
    case .added: return true
    case .removed: return false
    case .unmentioned: return hides(member) ? false : nil
    }
  }
}
