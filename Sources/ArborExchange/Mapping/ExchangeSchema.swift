import ArborModel

/// A store's model as documents see it: entities with all their properties, found by name.
///
/// Not thread-safe: each exchange makes its own.
final class ExchangeSchema {
  private let model: ManagedObjectModel
  private var entities: [String: ExchangeEntity] = [:]
  private var composites: [String: [ExchangeAttribute]] = [:]

  init(_ model: ManagedObjectModel) { self.model = model }

  /// The entity of a name, or nil.
  func entity(named name: String) -> ExchangeEntity? {
    if let entity = entities[name] { return entity }
    guard let description = model.entity(named: name) else { return nil }
    let entity = ExchangeEntity(lineage: model.lineage(of: description))
    entities[name] = entity
    return entity
  }

  /// The names of the entities that can have objects.
  var entityNames: [String] { model.entities.filter { !$0.isAbstract }.map(\.name) }

  /// The parts of a composite type; empty for an unknown one.
  func parts(ofComposite name: String) -> [ExchangeAttribute] {
    if let parts = composites[name] { return parts }
    let composite = model.composites.first { $0.name == name }
    let parts = composite?.attributes.map(ExchangeAttribute.init) ?? []
    composites[name] = parts
    return parts
  }
}

/// One entity with its inherited properties.
final class ExchangeEntity {
  let name: String
  let isAbstract: Bool
  /// In the order of the model, from the root entity down.
  let propertyNames: [String]
  private let lineage: [String]
  private let properties: [String: ExchangeProperty]

  fileprivate init(lineage: [EntityDescription]) {
    name = lineage[0].name
    isAbstract = lineage[0].isAbstract
    self.lineage = lineage.map(\.name)
    var names: [String] = []
    var properties: [String: ExchangeProperty] = [:]
    for ancestor in lineage.reversed() {
      for attribute in ancestor.attributes {
        names.append(attribute.name)
        properties[attribute.name] = .attribute(ExchangeAttribute(attribute))
      }
      for relationship in ancestor.relationships {
        names.append(relationship.name)
        properties[relationship.name] = .relationship(ExchangeRelationship(relationship))
      }
    }
    propertyNames = names
    self.properties = properties
  }

  func property(named name: String) -> ExchangeProperty? { properties[name] }

  /// Whether the entity is the one of this name or inherits from it.
  func isKind(of name: String) -> Bool { lineage.contains(name) }
}

/// An attribute or a relationship.
enum ExchangeProperty {
  case attribute(ExchangeAttribute)
  case relationship(ExchangeRelationship)
}

/// One attribute, shared by all values that are read for it: a description is large to copy.
final class ExchangeAttribute {
  let name: String
  let type: AttributeType
  private let description: AttributeDescription
  /// Of dates: what their texts look like.
  private(set) lazy var dates = DateReader(description)

  init(_ description: AttributeDescription) {
    name = description.name
    type = description.type
    self.description = description
  }
}

/// One relationship, shared by all links that are read for it.
final class ExchangeRelationship {
  let name: String
  let destination: String
  let isToMany: Bool

  init(_ description: RelationshipDescription) {
    name = description.name
    destination = description.destination
    isToMany = description.isToMany
  }
}
