/// The corresponding entities, attributes and relationships of two models, regardless of their
/// names and their declaring entities.
package struct ModelPairing: Sendable {
  let entities: EntityPairing
  let attributes: PropertyPairing
  let relationships: PropertyPairing
}

extension ModelPairing {
  /// Creates a pairing by names and renaming identifiers.
  package init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
    let (oldTree, newTree) = (EntityTree(old), EntityTree(new))
    let entities = EntityPairing(oldTree, newTree)
    let relatives = entities.relatives(oldTree, newTree)
    func pairing(_ parts: KeyPath<EntityDescription, [some RenamedPart]>) -> PropertyPairing {
      func identities(_ model: ManagedObjectModel) -> [[PartIdentity]] {
        model.entities.map { $0[keyPath: parts].map { PartIdentity($0) } }
      }
      return PropertyPairing(entities, relatives, identities(old), identities(new))
    }
    self.init(
      entities: entities, attributes: pairing(\.attributes),
      relationships: pairing(\.relationships))
  }

  /// Returns the pairing of this one's older model with the newer model of `next`.
  func composed(with next: ModelPairing) -> ModelPairing {
    ModelPairing(
      entities: entities.composed(with: next.entities),
      attributes: attributes.composed(with: next.attributes, entities, next.entities),
      relationships: relationships.composed(with: next.relationships, entities, next.entities))
  }

  /// Returns this pairing, with parts that have no counterpart filled in from another pairing of
  /// the same models.
  func filled(from other: ModelPairing) -> ModelPairing {
    let filled = entities.filled(from: other.entities)
    return ModelPairing(
      entities: filled,
      attributes: attributes.filled(from: other.attributes, other.entities, filled),
      relationships: relationships.filled(from: other.relationships, other.entities, filled))
  }
}
