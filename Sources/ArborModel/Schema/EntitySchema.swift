/// An entity compiled for the store and for objects, with inherited properties, numbers and a
/// record layout.
///
/// Attributes are numbered from the root entity down, in declaration order, so an inherited
/// attribute has the same slot in every subentity. Relationships are numbered in the same way, with
/// hidden inverses last.
package final class EntitySchema: Sendable {
  /// The entity's catalog number in its store.
  package let number: UInt16
  /// The entity's index in ``ModelSchema/entities``.
  package let index: Int
  package let name: String
  package let description: EntityDescription
  package let isAbstract: Bool
  package let parentIndex: Int?
  /// The indexes of the concrete entities that are this one or inherit from it, sorted by catalog
  /// number.
  package let concreteFamily: [Int]
  /// The indexes of this entity and its ancestors, starting with this one.
  package let lineage: [Int]
  package let attributes: [AttributeSchema]
  package let relationships: [RelationshipSchema]
  package let indexes: [IndexSchema]
  package let layout: RecordLayout
  /// A cache of resolved sort orders of fetches.
  package let orders = BoundOrders()
  private let properties: [String: PropertySchema]

  init(
    number: UInt16, index: Int, description: EntityDescription, parentIndex: Int?,
    concreteFamily: [Int], lineage: [Int], attributes: [AttributeSchema],
    relationships: [RelationshipSchema], indexes: [IndexSchema], layout: RecordLayout
  ) {
    self.number = number
    self.index = index
    name = description.name
    self.description = description
    isAbstract = description.isAbstract
    self.parentIndex = parentIndex
    self.concreteFamily = concreteFamily
    self.lineage = lineage
    self.attributes = attributes
    self.relationships = relationships
    self.indexes = indexes
    self.layout = layout
    var properties: [String: PropertySchema] = [:]
    for attribute in attributes { properties[attribute.name] = .attribute(attribute) }
    for relationship in relationships where !relationship.isHidden {
      properties[relationship.name] = .relationship(relationship)
    }
    self.properties = properties
  }

  /// Returns the same entity for records of an older layout, in which only some fields can be read.
  ///
  /// - Parameter copied: For each field of the layout, the older layout's field with the same
  ///   bytes, or `nil` for a field that must not be read.
  package func reading(_ older: RecordLayout, _ copied: [RecordField?]) -> EntitySchema {
    let fields = zip(layout.fields, copied).map { field, older in
      older.map(field.found(in:)) ?? field
    }
    return EntitySchema(
      number: number, index: index, description: description, parentIndex: parentIndex,
      concreteFamily: concreteFamily, lineage: lineage,
      attributes: attributes.map {
        AttributeSchema(
          slot: $0.slot, name: $0.name, description: $0.description, fieldIndex: $0.fieldIndex,
          field: fields[$0.fieldIndex])
      },
      relationships: relationships.map { relationship in
        guard case .field(let index) = relationship.storage else { return relationship }
        return RelationshipSchema(relationship, field: fields[index])
      }, indexes: indexes,
      layout: RecordLayout(older, rearranged: fields))
  }

  /// Returns the attribute or relationship with the given name, or `nil` if it doesn't exist or is
  /// a hidden inverse.
  package func property(named name: String) -> PropertySchema? { properties[name] }

  /// The bit, in a set of changed properties, that all properties without a bit of their own share.
  package static let otherProperties: UInt64 = 1 << 63

  /// Returns the bit of a field of the layout in a set of changed properties.
  package static func changeBit(ofField index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }

  /// Returns the bit, in a set of changed properties, of a to-many relationship that is stored as
  /// links. These bits follow those of the fields, in the order of the relationships.
  package func changeBit(ofLinks slot: Int) -> UInt64 {
    var index = layout.fields.count
    for relationship in relationships[..<slot] where relationship.storage == .links { index += 1 }
    return Self.changeBit(ofField: index)
  }

  /// The bits in a set of changed properties that don't represent a single field.
  package var linkBits: UInt64 { ~(Self.changeBit(ofField: layout.fields.count) &- 1) }

  /// Returns the names of the properties that a set may contain: stored attributes, to-one
  /// relationships, and to-many relationships that are stored as links.
  package func propertyNames(changed bits: UInt64) -> Set<String> {
    var names: Set<String> = []
    for attribute in attributes
    where !attribute.field.isTransient
      && bits & Self.changeBit(ofField: attribute.fieldIndex) != 0
    {
      names.insert(attribute.name)
    }
    for relationship in relationships where !relationship.isHidden {
      if bits & changeBits(of: relationship) != 0 { names.insert(relationship.name) }
    }
    return names
  }

  /// Returns the bits of a relationship, or 0 if its inverse stores it.
  package func changeBits(of relationship: RelationshipSchema) -> UInt64 {
    switch relationship.storage {
    case .field(let index): Self.changeBit(ofField: index)
    case .links: changeBit(ofLinks: relationship.slot) | Self.otherProperties
    case .derived: 0
    }
  }

  package var referenceBits: UInt64 {
    relationships.reduce(0) { $1.isToMany ? $0 : $0 | changeBits(of: $1) }
  }

  /// The names of all attributes and relationships, for suggestions in messages.
  package var propertyNames: [String] {
    attributes.map(\.name) + relationships.filter { !$0.isHidden }.map(\.name)
  }

  package func isKind(of other: EntitySchema) -> Bool { lineage.contains(other.index) }

  /// Returns this entity's version of a relationship, or `nil` if its objects don't have it. That
  /// can happen for object numbers from a forged file.
  package func own(_ relationship: RelationshipSchema) -> RelationshipSchema? {
    guard relationships.indices.contains(relationship.slot),
      relationships[relationship.slot].declaringEntity == relationship.declaringEntity
    else { return nil }
    return relationships[relationship.slot]
  }
}
