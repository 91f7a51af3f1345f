internal import ArborModel

/// One change of what waits in a context for its commit, as what was there before it.
///
/// It is the only form of a change until the commit. What waits — ``PendingObject``,
/// ``PendingMembers``, ``PendingOrder`` — is what the edits since the last commit come to; a
/// savepoint is a position in the ``EditLog``, and going back to it takes the edits behind it off;
/// an undo group is a slice of the log, and taking it back makes new edits; live results and
/// rounds are told of each.
enum Edit {
  /// The state of an object.
  case object(ObjectEdit)
  /// Whether an object is a member of a relationship that is kept as links.
  case link(LinkEdit)
  /// What was said of the sequence of an ordered relationship's members.
  case order(owner: ObjectNumber, RelationshipSchema, PendingOrder?)
  /// The sequence of an ordered relationship's members.
  case sequence(SequenceEdit)
  /// One that only a savepoint had to know of, which has ended.
  case none

  /// Whether undo takes the edit back, as far as it has an effect.
  var isUndoable: Bool {
    switch self {
    case .object(let edit): edit.isUndoable
    case .link(let edit): edit.isUndoable
    case .sequence: true
    case .order, .none: false
    }
  }

  /// Whether the edit, which is sealed, changed anything that undo takes back.
  var hasEffect: Bool {
    switch self {
    case .object(let edit): edit.isUndoable && edit.effect.isAny
    case .link(let edit): edit.isUndoable && edit.effect != .none
    // Of those that have left, other edits tell.
    case .sequence(let edit): edit.isMoved
    case .order, .none: false
    }
  }
}

/// Parts of an edit. An edit is large and has references to count: reading one part, or changing
/// one in place, copies none of it.
extension Edit {
  /// The object whose state the edit changed.
  @inline(__always)
  var object: ManagedObject? {
    if case .object(let edit) = self { edit.object } else { nil }
  }

  /// The object that the edit inserted or brought back, as far as that is left to take back.
  @inline(__always)
  var insertedObject: ManagedObject? {
    guard case .object(let edit) = self, edit.before == nil, edit.effect.isAny else { return nil }
    return edit.object
  }

  /// Whether the edit, which is sealed, deleted an object.
  @inline(__always)
  var isDeletion: Bool {
    if case .object(let edit) = self, case .deleted = edit.effect { true } else { false }
  }

  /// Whether the edit, which is sealed, changed properties or a link.
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

  /// Changes an edit of an object in place; false for one of another kind.
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

/// A change of whether an object is a member of a relationship that is kept as links.
struct LinkEdit {
  /// The effect of the edit, as far as it is left to take back.
  enum Effect { case open, changed, none }

  let owner: ObjectNumber
  let relationship: RelationshipSchema
  let member: ObjectNumber
  /// The pending membership before.
  let former: LinkMembership
  /// Whether it was one before; known of edits that undo takes back.
  let wasMember: Bool
  /// Whether undo takes it back; otherwise only a savepoint does.
  let isUndoable: Bool
  var effect = Effect.open

  /// The link, as the side of its owner has it.
  var link: OwnedLink { OwnedLink(owner: owner, slot: relationship.slot, target: member) }
}

/// A link, as one side has it.
struct OwnedLink: Hashable {
  let owner: ObjectNumber
  /// The owner's relationship.
  let slot: Int
  let target: ObjectNumber
}
