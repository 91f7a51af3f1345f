import ArborModel

/// One entity with its inherited properties.
final class ExchangeEntity {
  let name: String
  let isAbstract: Bool
  /// In the order of the model, from the root entity down.
  let propertyNames: [String]
  private let lineage: [String]
  private let properties: [String: ExchangeProperty]

  init(lineage: [EntityDescription]) {
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
