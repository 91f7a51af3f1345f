import ArborModel

/// One item of a document as its mapping understands it, before anything in a context is touched.
struct PlannedItem {
  let mapping: ItemMapping
  let node: JSONNode
  /// What identifies the object; nil: a new one.
  let key: IdentityKey?
  /// Whether nothing has spoken of the key before.
  let isFirst: Bool
  /// What the item says of relationships, those left out of which it says nothing.
  let links: [PlannedLinks]
  /// The item of the document where a validator has put another one in its place.
  let origin: JSONNode?
}

/// What an item says of the relationship at a place of its mapping.
struct PlannedLinks {
  let place: Int
  let members: PlannedMembers
}

/// The members of a relationship.
enum PlannedMembers {
  case absent
  case null(JSONNode)
  /// The member of a to-one relationship; nil where a validator has dropped it.
  indirect case one(PlannedItem?, ItemMapping, JSONNode)
  case list([PlannedItem], ItemMapping, JSONNode)
  case named(PlannedReference)
}
