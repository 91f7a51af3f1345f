package import ArborModel

/// A change of whether an object is a member of a relationship that is kept as links.
package struct LinkEdit {
  /// What is left to take back.
  package enum Effect { case open, changed, none }

  /// A link, as one side has it.
  package struct Pair: Hashable {
    package let owner: ObjectNumber
    package let declaringEntity: Int
    package let slot: Int
    package let member: ObjectNumber
  }

  package let owner: ObjectNumber
  package let relation: Relation
  package let member: ObjectNumber
  /// The pending membership before.
  package let former: LinkMembership
  /// Whether it was one before; known of edits that undo takes back.
  package let wasMember: Bool
  /// Whether undo takes it back; otherwise only a savepoint does.
  package let isUndoable: Bool
  package var effect = Effect.open

  package var pair: Pair {
    Pair(
      owner: owner, declaringEntity: relation.declaringEntity, slot: relation.slot, member: member)
  }
}
