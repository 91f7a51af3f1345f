internal import ArborModel

/// A pending change, represented by the state before it.
///
/// Until the commit, every change is an edit. The pending state — ``PendingObject``,
/// ``PendingMembers``, ``PendingOrder`` — is the sum of the edits since the last commit. A
/// savepoint is a position in the ``EditLog``, and restoring it reverts the edits after it. An undo
/// group is a slice of the log, and undoing it creates new edits. Live results and change rounds
/// are notified of each edit.
enum Edit {
  /// A change of an object's state.
  case object(ObjectEdit)
  /// A change of an object's membership in a relationship that is stored as links.
  case link(LinkEdit)
  /// A change of the pending order of an ordered relationship's members.
  case order(owner: ObjectNumber, RelationshipSchema, PendingOrder?)
  /// A change of the sequence of an ordered relationship's members, for undo.
  case sequence(SequenceEdit)
  /// An edit that was only needed by a savepoint that has ended.
  case none

  /// Whether undo reverts the edit if it has an effect.
  var isUndoable: Bool {
    switch self {
    case .object(let edit): edit.isUndoable
    case .link(let edit): edit.isUndoable
    case .sequence: true
    case .order, .none: false
    }
  }

  /// Whether the sealed edit changed anything that undo reverts.
  var hasEffect: Bool {
    switch self {
    case .object(let edit): edit.isUndoable && edit.effect.isAny
    case .link(let edit): edit.isUndoable && edit.effect != .none
    // Removed members are covered by other edits.
    case .sequence(let edit): edit.isMoved
    case .order, .none: false
    }
  }
}

/// Access to parts of an edit. An edit is large and contains references: reading a part or changing
/// it in place avoids copying it.
extension Edit {
  /// The object whose state the edit changed.
  @inline(__always)
  var object: ManagedObject? {
    if case .object(let edit) = self { edit.object } else { nil }
  }

  /// The object that the edit inserted or restored, if that can still be reverted.
  @inline(__always)
  var insertedObject: ManagedObject? {
    guard case .object(let edit) = self, !edit.hasBefore, edit.effect.isAny else { return nil }
    return edit.object
  }

  /// The long record before the edit, and the number of its object.
  @inline(__always)
  var longRecord: (FormerRecord, ObjectNumber)? {
    guard case .object(let edit) = self, let long = edit.long else { return nil }
    return (long, edit.object.number)
  }

  /// Whether the sealed edit deleted an object.
  @inline(__always)
  var isDeletion: Bool {
    if case .object(let edit) = self, case .deleted = edit.effect { true } else { false }
  }

  /// Whether the sealed edit changed properties or a link.
  @inline(__always)
  var changesParts: Bool {
    switch self {
    case .object(let edit): if case .changed = edit.effect { true } else { false }
    case .link: true
    case .order, .sequence, .none: false
    }
  }

  @inline(__always)
  var isSequence: Bool {
    if case .sequence = self { true } else { false }
  }

  /// Changes an edit of an object in place. Returns `false` for other edits.
  @inline(__always) @discardableResult
  mutating func changeObjectEdit(_ body: (inout ObjectEdit) -> Void) -> Bool {
    switch consume self {
    case .object(var edit):
      body(&edit)
      self = .object(edit)
      return true
    case let other:
      self = other
      return false
    }
  }
}

/// A change of an object's membership in a relationship stored as links.
struct LinkEdit {
  /// The effect of an edit, as far as it can still be reverted.
  enum Effect { case open, changed, none }

  let owner: ObjectNumber
  let relationship: RelationshipSchema
  let member: ObjectNumber
  /// The pending membership before the edit.
  let former: LinkMembership
  /// Whether the object was a member before. Only known for undoable edits.
  let wasMember: Bool
  /// Whether undo reverts the edit. Otherwise only restoring a savepoint does.
  let isUndoable: Bool
  var effect = Effect.open

  /// The link, as seen from its owner.
  var link: OwnedLink { OwnedLink(owner: owner, slot: relationship.slot, target: member) }
}

/// A link, as seen from one side.
struct OwnedLink: Hashable {
  let owner: ObjectNumber
  /// The slot of the owner's relationship.
  let slot: Int
  let target: ObjectNumber
}
