internal import ArborModel

/// The catalogue numbers of relationships that are kept as links. The last one that was asked for
/// is remembered, since edits of one relationship mostly follow one another.
struct RelationshipNumbers {
  private let schema: ModelSchema
  private var last: (entity: UInt16, slot: Int, number: UInt16)?

  init(_ schema: ModelSchema) { self.schema = schema }

  /// The number of an owner's relationship; 0 where it has none there.
  mutating func number(ofSlot slot: Int, of owner: ObjectNumber) -> UInt16 {
    if let last, last.entity == owner.entity, last.slot == slot { return last.number }
    guard let entity = schema.entity(of: owner), entity.relationships.indices.contains(slot) else {
      return 0
    }
    let number = number(of: entity.relationships[slot])
    last = (owner.entity, slot, number)
    return number
  }

  /// The slot of an owner's relationship; nil for a number that none of them has.
  mutating func slot(ofNumber number: UInt16, of owner: ObjectNumber) -> Int? {
    if let last, last.entity == owner.entity, last.number == number { return last.slot }
    guard number > 0, let entity = schema.entity(of: owner),
      let found = entity.relationships.first(where: {
        $0.storage == .links && self.number(of: $0) == number
      })
    else { return nil }
    last = (owner.entity, found.slot, number)
    return found.slot
  }

  private func number(of relationship: RelationshipSchema) -> UInt16 {
    let owner = schema.entities[relationship.declaringEntity].name
    return schema.catalog.entries[owner]?.relationships[relationship.name]?.number ?? 0
  }
}
