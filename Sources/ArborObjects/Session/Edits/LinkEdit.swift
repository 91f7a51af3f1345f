internal import ArborModel

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
