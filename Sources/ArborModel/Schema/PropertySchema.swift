package enum PropertySchema: Sendable {
  case attribute(AttributeSchema)
  case relationship(RelationshipSchema)
}

/// One attribute of an entity, inherited or own.
package struct AttributeSchema: Sendable {
  /// The attribute's slot in ``EntitySchema/attributes``.
  package let slot: Int
  package let name: String
  package let description: AttributeDescription
  /// The attribute's index in the layout's fields.
  package let fieldIndex: Int
  package let field: RecordField
}

/// One relationship of an entity, inherited, own or the hidden inverse of one without inverse.
package struct RelationshipSchema: Sendable {
  package enum Storage: Sendable, Hashable {
    /// A to-one relationship: a field of the owner's record, by its index in the layout.
    case field(Int)
    /// An unordered to-many relationship whose inverse is to-one: an index over that field.
    case derived
    /// Any other to-many relationship: link edits, kept in databases of their own.
    case links
  }

  /// The relationship's slot in ``EntitySchema/relationships``.
  package let slot: Int
  package let name: String
  package let description: RelationshipDescription
  package let declaringEntity: Int
  package let destination: Int
  /// The slot of the inverse among the destination's relationships. There always is one: a
  /// relationship without an inverse gets a hidden one, so that deletes find who points at what.
  package let inverseSlot: Int
  package let isToMany: Bool
  package let isOrdered: Bool
  package let isHidden: Bool
  package let deleteRule: RelationshipDescription.DeleteRule
  package internal(set) var storage: Storage
}
