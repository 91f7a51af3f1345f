package import ArborModel

/// A change of whether an object is a member of a relationship that is kept as links.
package struct LinkEdit {
  /// What is left to take back.
  package enum Effect { case open, changed, none }

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

  /// The link, as the side of its owner has it.
  package var link: OwnedLink { OwnedLink(owner: owner, slot: relation.slot, target: member) }
}

/// A link, as one side has it.
package struct OwnedLink: Hashable {
  package let owner: ObjectNumber
  /// The owner's relationship.
  package let slot: Int
  package let target: ObjectNumber
}
