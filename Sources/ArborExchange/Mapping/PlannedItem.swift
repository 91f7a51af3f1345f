import ArborModel

/// One item of a document as its mapping understands it, before anything in a context is touched.
struct PlannedItem {
  let mapping: ItemMapping
  let node: JSONNode
  /// What identifies the object; nil: a new one.
  let key: IdentityKey?
  /// By the mapping's attributes; nil where the item says nothing.
  let values: [JSONNode?]
  /// By the mapping's relationships.
  let links: [PlannedMembers]
  /// The item of the document where a validator has put another one in its place.
  let origin: JSONNode?
}

/// What an item says of one relationship.
enum PlannedMembers {
  case absent
  case null(JSONNode)
  /// The member of a to-one relationship; nil where a validator has dropped it.
  indirect case one(PlannedItem?, ItemMapping, JSONNode)
  case list([PlannedItem], ItemMapping, JSONNode)
}
