import ArborJSON
import ArborModel

/// One entity with its inherited properties.
final class ExchangeEntity {
  let name: String
  let isAbstract: Bool
  /// In the order of the model, from the root entity down.
  let properties: [ExchangeProperty]
  /// The descriptions of the entity and of those it inherits from, the root entity last.
  let lineage: [EntityDescription]
  private let indexes: [String: Int]
  let attributes: [ExchangeAttribute]
  /// Finds the attributes in objects of a document, by their indexes in ``attributes``.
  private(set) lazy var attributeMembers = JSONMembers(JSONKeyTable(attributes.map(\.name)))

  init(lineage: [EntityDescription], rules: TextRules) {
    let name = lineage[0].name
    self.name = name
    isAbstract = lineage[0].isAbstract
    self.lineage = lineage
    var properties: [ExchangeProperty] = []
    for ancestor in lineage.reversed() {
      properties += ancestor.attributes.map {
        .attribute(ExchangeAttribute($0, of: name, rules))
      }
      properties += ancestor.relationships.map {
        .relationship(ExchangeRelationship($0, of: name))
      }
    }
    self.properties = properties
    attributes = properties.compactMap { property in
      if case .attribute(let attribute) = property { attribute } else { nil }
    }
    indexes = Dictionary(properties.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  /// In the order of the model.
  var propertyNames: [String] { properties.map(\.name) }

  func property(named name: String) -> ExchangeProperty? { indexes[name].map { properties[$0] } }

  func attribute(named name: String) -> ExchangeAttribute? {
    if case .attribute(let attribute)? = property(named: name) { attribute } else { nil }
  }

  func relationship(named name: String) -> ExchangeRelationship? {
    if case .relationship(let relationship)? = property(named: name) { relationship } else { nil }
  }

  /// Whether the entity is the one of this name or inherits from it.
  func isKind(of name: String) -> Bool { lineage.contains { $0.name == name } }
}

enum ExchangeProperty {
  case attribute(ExchangeAttribute)
  case relationship(ExchangeRelationship)

  var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }
}
