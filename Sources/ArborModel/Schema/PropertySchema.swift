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
///
/// It is a class, since it has many parts and is passed around with each link.
package final class RelationshipSchema: Sendable {
  package enum Storage: Sendable, Hashable {
    /// A to-one relationship: a field of the owner's record, by its index in the layout.
    case field(Int)
    /// An unordered to-many relationship whose inverse is to-one: an index over that field.
    case derived
    /// Any other to-many relationship: link edits, kept in databases of their own.
    case links
  }

  /// The relationship's slot in ``EntitySchema/relationships``, the same in all entities that
  /// inherit it.
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
  /// Whether the inverse has many members.
  package let isInverseToMany: Bool
  /// Whether it is its own inverse.
  package let isOwnInverse: Bool
  package let deleteRule: RelationshipDescription.DeleteRule
  package let storage: Storage
  /// The field of the entity's records with the target; nil for to-many relationships.
  package let field: RecordField?
  /// The catalogue number of the first concrete entity that it leads to: usually the only one.
  @usableFromInline let usualTarget: UInt16?
  /// The catalogue numbers of all.
  @usableFromInline let targets: Set<UInt16>

  /// - Parameters:
  ///   - layout: That of the entity's records.
  ///   - targets: The catalogue numbers of the concrete entities that it leads to.
  init(
    slot: Int, description: RelationshipDescription, declaringEntity: Int, destination: Int,
    inverseSlot: Int, isHidden: Bool, isInverseToMany: Bool, isOwnInverse: Bool, storage: Storage,
    in layout: RecordLayout, targets: [UInt16]
  ) {
    self.slot = slot
    name = description.name
    self.description = description
    self.declaringEntity = declaringEntity
    self.destination = destination
    self.inverseSlot = inverseSlot
    isToMany = description.isToMany
    isOrdered = description.isOrdered
    self.isHidden = isHidden
    self.isInverseToMany = isInverseToMany
    self.isOwnInverse = isOwnInverse
    deleteRule = description.deleteRule
    self.storage = storage
    field = if case .field(let index) = storage { layout.fields[index] } else { nil }
    usualTarget = targets.first
    self.targets = Set(targets)
  }

  /// The same relationship for records with another arrangement of the fields.
  init(_ other: RelationshipSchema, field: RecordField?) {
    slot = other.slot
    name = other.name
    description = other.description
    declaringEntity = other.declaringEntity
    destination = other.destination
    inverseSlot = other.inverseSlot
    isToMany = other.isToMany
    isOrdered = other.isOrdered
    isHidden = other.isHidden
    isInverseToMany = other.isInverseToMany
    isOwnInverse = other.isOwnInverse
    deleteRule = other.deleteRule
    storage = other.storage
    self.field = field
    usualTarget = other.usualTarget
    targets = other.targets
  }

  /// Whether both ends are fields: one record that is merged says nothing of the other.
  package var isPaired: Bool { !isToMany && !isInverseToMany }

  /// Whether an object's number is of an entity that the relationship leads to, as all but those in
  /// forged files are.
  @inlinable @inline(__always)
  package func leads(to target: ObjectNumber) -> Bool {
    target.entity == usualTarget || targets.contains(target.entity)
  }
}
