internal import ArborModel

/// One relationship of an entity as objects use it: the facts of the schema at hand, without copies
/// of its descriptions.
final class Relation: Sendable {
  /// How the store keeps this side.
  enum Form: Sendable {
    /// A field of the owner's record: to-one.
    case field
    /// Nothing of its own: the members' fields, by an index.
    case derived
    /// Links in databases of their own.
    case links
  }

  let schema: RelationshipSchema
  /// The relationship's slot in its entity, the same in all that inherit from it.
  let slot: Int
  let inverseSlot: Int
  let declaringEntity: Int
  /// The index of the entity it leads to.
  let destination: Int
  let isToMany: Bool
  let isOrdered: Bool
  /// Whether it is the made-up inverse of a relationship without one.
  let isHidden: Bool
  /// Whether the inverse has many members.
  let isInverseToMany: Bool
  let isOwnInverse: Bool
  /// Whether it is a field and its inverse is one too: one record that is merged says nothing of
  /// the other.
  let isPaired: Bool
  let deleteRule: RelationshipDescription.DeleteRule
  let form: Form
  /// Where the target lies in the entity's records; nil for to-many relationships.
  let field: RecordField?
  /// The catalogue number of the first concrete entity that it leads to: of most the only one.
  let usualTarget: UInt16?
  /// The catalogue numbers of all.
  let targets: Set<UInt16>

  init(_ schema: RelationshipSchema, of entity: EntitySchema, in model: ModelSchema) {
    self.schema = schema
    slot = schema.slot
    inverseSlot = schema.inverseSlot
    declaringEntity = schema.declaringEntity
    destination = schema.destination
    isToMany = schema.isToMany
    isOrdered = schema.isOrdered
    isHidden = schema.isHidden
    deleteRule = schema.deleteRule
    let family = model.entities[schema.destination].concreteFamily.map { model.entities[$0].number }
    usualTarget = family.first
    targets = Set(family)
    let inverse = model.inverse(of: schema)
    isInverseToMany = inverse.isToMany
    isPaired = !schema.isToMany && !inverse.isToMany
    isOwnInverse = inverse.slot == schema.slot && inverse.declaringEntity == schema.declaringEntity
    switch schema.storage {
    case .field(let index):
      form = .field
      field = entity.layout.fields[index]
    case .derived:
      form = .derived
      field = nil
    case .links:
      form = .links
      field = nil
    }
  }

  var name: String { schema.name }

  /// Whether an object's number is of an entity that the relationship leads to, as all but those in
  /// forged files are.
  @inline(__always)
  func leads(to target: ObjectNumber) -> Bool {
    target.entity == usualTarget || targets.contains(target.entity)
  }
}
