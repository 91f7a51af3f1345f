/// Attributes that replace a relationship with the same name, and vice versa.
extension ModelComparison {
  /// Returns the relationships of the older model that an entity's attributes replace, by slot of
  /// the attribute.
  func replacedRelationships(of entity: Int) -> [Int: PropertySlot] {
    replaced(
      pairing.relationships, \.relationships, by: pairing.attributes, \.attributes, of: entity)
  }

  /// Returns the attributes of the older model that an entity's relationships replace, by slot of
  /// the relationship.
  func replacedAttributes(of entity: Int) -> [Int: PropertySlot] {
    replaced(
      pairing.attributes, \.attributes, by: pairing.relationships, \.relationships, of: entity)
  }

  private func replaced(
    _ formerPairing: PropertyPairing, _ formerParts: KeyPath<EntityDescription, [some RenamedPart]>,
    by presentPairing: PropertyPairing,
    _ presentParts: KeyPath<EntityDescription, [some RenamedPart]>, of entity: Int
  ) -> [Int: PropertySlot] {
    guard let partner = pairing.entities.oldOf[entity] else { return [:] }
    let former = Self.unpaired(formerPairing.newPartners, partner, formerPairing.movesTo)
    let present = Self.unpaired(presentPairing.oldPartners, entity, presentPairing.moves)
    guard !former.isEmpty, !present.isEmpty else { return [:] }
    let pairs = IdentityPairs(
      former.map { PartIdentity(old.entities[partner][keyPath: formerParts][$0.slot]) },
      present.map { PartIdentity(new.entities[entity][keyPath: presentParts][$0.slot]) })
    var replaced: [Int: PropertySlot] = [:]
    for (index, partner) in pairs.oldOf.enumerated() {
      if let partner { replaced[present[index].slot] = former[partner] }
    }
    return replaced
  }

  private static func unpaired(
    _ partners: [[Int?]], _ entity: Int, _ moves: [PropertySlot: [PropertySlot]]
  ) -> [PropertySlot] {
    partners[entity].indices.lazy
      .filter { partners[entity][$0] == nil }
      .map { PropertySlot(entity: entity, slot: $0) }
      .filter { moves[$0] == nil }
  }
}
