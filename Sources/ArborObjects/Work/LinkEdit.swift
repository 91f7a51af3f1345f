internal import ArborModel

/// A change of whether an object is a member of a relationship that is kept as links.
struct LinkEdit {
  /// What is left to take back.
  enum Effect { case open, changed, none }

  /// A link, as one side has it.
  struct Pair: Hashable {
    let owner: ObjectNumber
    let declaringEntity: Int
    let slot: Int
    let member: ObjectNumber
  }

  let owner: ObjectNumber
  let relation: Relation
  let member: ObjectNumber
  /// What was said of the member before.
  let former: PendingMembers.Standing
  /// Whether it was one before; known of edits that undo takes back.
  let wasMember: Bool
  /// Whether undo takes it back; otherwise only a savepoint does.
  let isUndoable: Bool
  var effect = Effect.open

  var pair: Pair {
    Pair(
      owner: owner, declaringEntity: relation.declaringEntity, slot: relation.slot, member: member)
  }
}
