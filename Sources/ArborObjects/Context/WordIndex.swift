internal import ArborModel
internal import ArborStore

/// The full-text index used by a search.
struct WordIndex {
  private let index: FetchIndexDescription
  private let entity: EntitySchema
  /// The names of the indexed attributes.
  var attributes: [String] { index.elements.map(\.property) }

  /// Finds the index to use.
  ///
  /// - Parameter name: The name of the index, or `nil` if the entity has only one.
  /// - Throws: ``ArborError`` `unknownName` if there is no such index, `invalidArgument` if there
  ///   are several and no name is given.
  init(
    named name: String?, of entity: EntitySchema, in model: ManagedObjectModel
  ) throws(ArborError) {
    self.entity = entity
    let indexes = entity.lineage.flatMap { model.entities[$0].fetchIndexes }
      .filter(\.isOfWords)
    let names = indexes.map(\.name).sorted()
    guard let name else {
      if indexes.count == 1 {
        index = indexes[0]
        return
      }
      throw ArborError(
        indexes.isEmpty ? .unknownName : .invalidArgument,
        indexes.isEmpty
          ? "\(entity.name) has no text index to search. Declare one, such as "
            + "FetchIndexDescription(text: \"title\", \"body\")."
          : "\(entity.name) has several text indexes. Pass the name of one: "
            + names.joined(separator: ", ") + "."
      ).with(entity: entity.name)
    }
    guard let named = indexes.first(where: { $0.name == name }) else {
      let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
      throw ArborError(
        .unknownName,
        "\(entity.name) has no text index \"\(name)\"; \(known)."
          + NearestName.hint(name, in: names)
      ).with(entity: entity.name, keyPath: name)
    }
    index = named
  }

  /// Returns the attributes in the form required by the store's search.
  ///
  /// - Parameter given: The weights of attributes, by name. Other attributes have the weight 1.
  func columns(_ given: [PropertyPath: Double]) throws(ArborError) -> [TextSearch.Column] {
    var weights: [String: Double] = [:]
    for (path, weight) in given { weights[try path.text()] = weight }
    for (name, weight) in weights.sorted(by: { $0.key < $1.key }) {
      guard attributes.contains(name) else {
        throw ArborError(
          .unknownName,
          "The index \(index.name) has no attribute \"\(name)\" to weight. It has "
            + attributes.joined(separator: ", ") + "." + NearestName.hint(name, in: attributes)
        ).with(entity: entity.name, keyPath: name)
      }
      guard weight >= 0, weight.isFinite else {
        throw ArborError(
          .invalidArgument, "The weight of \(name) is \(weight). Use a number of at least 0."
        ).with(entity: entity.name, keyPath: name)
      }
    }
    var columns: [TextSearch.Column] = []
    for name in attributes {
      guard let slot = entity.attributes.first(where: { $0.name == name })?.slot,
        let indexNumber = entity.indexes.firstIndex(where: { kept in
          kept.isText && kept.columns.map(\.source) == [.attribute(slot)]
            && kept.condition?.text == index.partialIndexPredicate
        })
      else {
        throw ArborError(
          .invalidArgument,
          "The index \(index.name) of \(entity.name) doesn't exist, because \(name) cannot be "
            + "indexed. Search another index."
        ).with(entity: entity.name, keyPath: name)
      }
      columns.append(.init(slot: slot, index: indexNumber, weight: weights[name] ?? 1))
    }
    return columns
  }
}
