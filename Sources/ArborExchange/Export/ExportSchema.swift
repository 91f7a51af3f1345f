import ArborModel

/// What an export writes of a model: the attributes of each entity, and of two relationships that
/// are each other's inverse the one from which both follow.
final class ExportSchema {
  private let model: ManagedObjectModel
  let attributes: ExchangeSchema
  /// The names of the properties that are exported; nil: all.
  private let keys: Set<String>?
  private var entities: [String: ExportEntity] = [:]

  /// - Throws: ``ArborError`` `unknownName` for a key that no entity has.
  init(_ model: ManagedObjectModel, keys: [String]?) throws(ArborError) {
    self.model = model
    attributes = ExchangeSchema(model)
    self.keys = keys.map(Set.init)
    guard let keys else { return }
    var known: Set<String> = []
    for entity in model.entities {
      known.formUnion(entity.attributes.map(\.name))
      known.formUnion(entity.relationships.map(\.name))
    }
    for key in keys where !known.contains(key) {
      throw ArborError(
        .unknownName,
        "No entity has a property “\(key)” that could be exported; write the name of one."
          + NearestName.hint(key, in: known.sorted()))
    }
  }

  func entity(named name: String) -> ExportEntity {
    if let entity = entities[name] { return entity }
    let described = attributes.entity(named: name)
    let entity = ExportEntity(name)
    for ancestor in described?.lineage.reversed() ?? [] {
      entity.attributes += ancestor.attributes.filter(isExported)
        .compactMap { described?.attribute(named: $0.name) }
      for relationship in ancestor.relationships where isExported(relationship) {
        entity.links.append(
          ExportLink(
            name: relationship.name, isToMany: relationship.isToMany,
            isOrdered: relationship.isOrdered, role: role(of: relationship, at: ancestor)))
      }
    }
    entities[name] = entity
    return entity
  }

  /// The store computes derived values, and transient ones are not kept.
  private func isExported(_ attribute: AttributeDescription) -> Bool {
    attribute.derivation == nil && !attribute.isTransient && keys?.contains(attribute.name) != false
  }

  private func isExported(_ relationship: RelationshipDescription) -> Bool {
    !relationship.isTransient && keys?.contains(relationship.name) != false
  }

  /// Whether a relationship is written where its inverse could be.
  private func role(
    of relationship: RelationshipDescription, at entity: EntityDescription
  ) -> ExportLink.Role {
    guard let (inverse, owner) = inverse(of: relationship), isExported(inverse) else {
      return .written
    }
    if inverse.name == relationship.name, owner.name == entity.name {
      return relationship.isOrdered ? .written : .writtenAtTheLater
    }
    // Order is written wherever there is one. Else the side with one target is the shorter.
    if relationship.isOrdered || inverse.isOrdered {
      return relationship.isOrdered ? .written : .followed
    }
    if relationship.isToMany != inverse.isToMany {
      return relationship.isToMany ? .followed : .written
    }
    return (entity.name, relationship.name) < (owner.name, inverse.name) ? .written : .followed
  }

  private func inverse(
    of relationship: RelationshipDescription
  ) -> (inverse: RelationshipDescription, owner: EntityDescription)? {
    guard let name = relationship.inverse,
      let destination = model.entity(named: relationship.destination)
    else { return nil }
    for owner in model.lineage(of: destination) {
      if let inverse = owner.relationships.first(where: { $0.name == name }) {
        return (inverse, owner)
      }
    }
    return nil
  }
}

/// One entity with all that is exported of it, from the root entity down.
final class ExportEntity {
  let name: String
  var attributes: [ExchangeAttribute] = []
  var links: [ExportLink] = []

  init(_ name: String) { self.name = name }
}

struct ExportLink {
  enum Role {
    case written
    /// Its own inverse: each pair is written once, at the object that comes later.
    case writtenAtTheLater
    /// Written at the inverse.
    case followed
  }

  let name: String
  let isToMany: Bool
  let isOrdered: Bool
  let role: Role
}
