import ArborModel

/// Names of the model that no item of an import has had: places of values, and what keys of
/// relationships are made of.
struct UnmetNames {
  /// A sentence for each name, in the order of entities and properties.
  let warnings: [String]
  /// The relationships of the outermost items whose `ImportReference` reads nothing that they have.
  let references: [MappedRelationship]

  init(_ mappings: [ExchangeMapping], ofItems outermost: ExchangeMapping) {
    references = outermost.relationships.filter { $0.reference?.isMet == false }
    let places = mappings.flatMap { mapping in
      mapping.scanner.unmetNames.sorted { $0.property < $1.property }.map { name in
        "No item has “\(name.key)”, where \(mapping.entity.name).\(name.property) is to be found."
      }
    }
    let keys = references.sorted { $0.name < $1.name }.map { relationship in
      "No item has \(Self.list(relationship.reference?.names ?? [])), which the ImportReference of "
        + "\(relationship.entityName).\(relationship.name) reads."
    }
    warnings = places + keys
  }

  static func list(_ names: [String]) -> String {
    Set(names).sorted().map { "“\($0)”" }.joined(separator: ", ")
  }
}
