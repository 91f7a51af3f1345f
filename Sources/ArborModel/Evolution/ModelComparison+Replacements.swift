/// Names that were an attribute's and are a relationship's, or the reverse.
extension ModelComparison {
  /// By slot of an entity's attributes: the relationship of the older model that it replaces.
  func replacedRelationships(of entity: Int) -> [Int: PropertySlot] {
    guard let partner = pairing.entities.oldOf[entity] else { return [:] }
    let former = Self.unpaired(
      pairing.relationships.newPartners, partner, pairing.relationships.movesTo)
    let present = Self.unpaired(
      pairing.attributes.oldPartners, entity, pairing.attributes.moves)
    return Self.paired(
      former, { identity(old.entities[partner].relationships[$0]) },
      present, { identity(new.entities[entity].attributes[$0]) })
  }

  /// By slot of an entity's relationships: the attribute of the older model that it replaces.
  func replacedAttributes(of entity: Int) -> [Int: PropertySlot] {
    guard let partner = pairing.entities.oldOf[entity] else { return [:] }
    let former = Self.unpaired(
      pairing.attributes.newPartners, partner, pairing.attributes.movesTo)
    let present = Self.unpaired(
      pairing.relationships.oldPartners, entity, pairing.relationships.moves)
    return Self.paired(
      former, { identity(old.entities[partner].attributes[$0]) },
      present, { identity(new.entities[entity].relationships[$0]) })
  }

  private func identity(_ attribute: AttributeDescription) -> PartIdentity {
    PartIdentity(attribute.name, attribute.renamingIdentifier)
  }

  private func identity(_ relationship: RelationshipDescription) -> PartIdentity {
    PartIdentity(relationship.name, relationship.renamingIdentifier)
  }

  private static func unpaired(
    _ partners: [[Int?]], _ entity: Int, _ moves: [PropertySlot: [PropertySlot]]
  ) -> [PropertySlot] {
    partners[entity].indices.lazy
      .filter { partners[entity][$0] == nil }
      .map { PropertySlot(entity: entity, slot: $0) }
      .filter { moves[$0] == nil }
  }

  private static func paired(
    _ former: [PropertySlot], _ formerIdentity: (Int) -> PartIdentity,
    _ present: [PropertySlot], _ identity: (Int) -> PartIdentity
  ) -> [Int: PropertySlot] {
    guard !former.isEmpty, !present.isEmpty else { return [:] }
    let pairs = IdentityPairs(
      former.map { formerIdentity($0.slot) }, present.map { identity($0.slot) })
    var replaced: [Int: PropertySlot] = [:]
    for (index, partner) in pairs.oldOf.enumerated() {
      if let partner { replaced[present[index].slot] = former[partner] }
    }
    return replaced
  }
}
