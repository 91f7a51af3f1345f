internal import ArborModel
internal import ArborStore

/// Whether a pending change makes an object a member of a relationship, whatever the store knows:
/// a link that is added or removed may be there, or not be there, already.
enum LinkMembership { case added, removed, unmentioned }

/// The pending changes of one owner's members in one to-many relationship.
final class PendingMembers {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
  /// The members beyond the store's.
  var added = MemberList()
  /// The store's members that are none any more.
  var removed = MemberList()
  /// The sequence of the members of an ordered relationship; nil: nothing is said of it.
  var order: PendingOrder?
  /// The savepoint in which ``order`` was last recorded.
  var orderEpoch: UInt32 = 0
  /// The savepoint in which the sequence of the members was last noted for undo.
  var sequenceEpoch: UInt32 = 0
  /// Members by concurrent commits, to be left out as long as their deletion waits here.
  var hidden = MemberList()
  /// Whether an object's deletion waits for a commit.
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

  /// Whether the members are the store's.
  var isSilent: Bool { isEmpty && hidden.isEmpty }

  private func hides(_ member: ObjectNumber) -> Bool {
    hidden.contains(member) && isDeleted(member)
  }

  /// Forgets what was changed.
  func clear() {
    hidden = MemberList()
    added = MemberList()
    removed = MemberList()
    order = nil
    orderEpoch = 0
    sequenceEpoch = 0
  }

  /// What the edit says of an object, whatever the store knows: a link that is added or removed may
  /// be there, or not be there, already.
  subscript(member: ObjectNumber) -> LinkMembership {
    get { added.contains(member) ? .added : removed.contains(member) ? .removed : .unmentioned }
    set {
      if newValue == .added { added.append(member) } else { added.remove(member) }
      if newValue == .removed { removed.append(member) } else { removed.remove(member) }
    }
  }
}

/// The edit as reads see it.
extension PendingMembers {
  /// The members beyond the store's.
  var addedMembers: [ObjectNumber] { added.numbers }
  /// The store's members that are none any more.
  var removedMembers: [ObjectNumber] {
    guard !hidden.isEmpty else { return removed.numbers }
    return removed.numbers + hidden.numbers.filter { self[$0] == .unmentioned && hides($0) }
  }

  /// Whether an object is a member; nil if the edit doesn't tell.
  func says(_ member: ObjectNumber) -> Bool? {
    switch self[member] {
    case .added: return true
    case .removed: return false
    case .unmentioned: return hides(member) ? false : nil
    }
  }
}
