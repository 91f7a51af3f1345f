/// Which entities, attributes and relationships of two models are the same, whatever they are
/// called and wherever in the hierarchy they are declared.
package struct ModelPairing: Sendable {
  let entities: EntityPairing
  let attributes: PropertyPairing
  let relationships: PropertyPairing

  /// Pairs by names and renaming identifiers.
  package init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    let (oldTree, newTree) = (EntityTree(old), EntityTree(new))
    let entities = EntityPairing(oldTree, newTree)
    let relatives = entities.relatives(oldTree, newTree)
    self.entities = entities
    attributes = PropertyPairing(
      entities, relatives, old.entities.map(Self.attributes), new.entities.map(Self.attributes))
    relationships = PropertyPairing(
      entities, relatives, old.entities.map(Self.relationships),
      new.entities.map(Self.relationships))
  }

  private init(
    _ entities: EntityPairing, _ attributes: PropertyPairing, _ relationships: PropertyPairing
  ) {
    self.entities = entities
    self.attributes = attributes
    self.relationships = relationships
  }

  private static func attributes(_ entity: EntityDescription) -> [PartIdentity] {
    entity.attributes.map { PartIdentity($0.name, $0.renamingIdentifier) }
  }

  private static func relationships(_ entity: EntityDescription) -> [PartIdentity] {
    entity.relationships.map { PartIdentity($0.name, $0.renamingIdentifier) }
  }

  /// The pairs of the ends of a chain of two.
  func composed(with next: ModelPairing) -> ModelPairing {
    ModelPairing(
      entities.composed(with: next.entities),
      attributes.composed(with: next.attributes, entities, next.entities),
      relationships.composed(with: next.relationships, entities, next.entities))
  }
}
