/// Names of the model that no item of an import has had: where values stand, and what keys of
/// relationships are made of.
struct UnmetNames {
  private struct Name: Hashable {
    let entity: String
    let property: String
    let key: String
  }

  private var names: Set<Name> = []
  /// The entities of which there were items.
  private var entities: Set<String> = []
  /// The relationships of the outermost items whose `ImportReference` reads nothing that they have.
  private(set) var references: Set<String> = []
  private var referenceWarnings: [String: String] = [:]

  init(_ mappings: [ItemMapping], references relationships: [ItemRelationship]) {
    for mapping in mappings {
      entities.insert(mapping.entity.name)
      for (property, key) in mapping.unmetNames {
        names.insert(Name(entity: mapping.entity.name, property: property, key: key))
      }
    }
    for relationship in relationships {
      let name = relationship.relationship.name
      references.insert(name)
      referenceWarnings[name] =
        "No item has \(Self.list(relationship.reference?.names ?? [])), which the ImportReference "
        + "of \(relationship.relationship.entityName).\(name) reads."
    }
  }

  /// Leaves out what the items of another batch have had.
  mutating func intersect(_ other: UnmetNames) {
    names = names.filter { !other.entities.contains($0.entity) || other.names.contains($0) }
      .union(other.names.filter { !entities.contains($0.entity) })
    entities.formUnion(other.entities)
    references.formIntersection(other.references)
  }

  /// A sentence for each name, in the order of entities and properties.
  var warnings: [String] {
    let sorted = names.sorted { ($0.entity, $0.property) < ($1.entity, $1.property) }
    return sorted.map {
      "No item has “\($0.key)”, where \($0.entity).\($0.property) is to be found."
    } + references.sorted().compactMap { referenceWarnings[$0] }
  }

  static func list(_ names: [String]) -> String {
    Set(names).sorted().map { "“\($0)”" }.joined(separator: ", ")
  }
}
