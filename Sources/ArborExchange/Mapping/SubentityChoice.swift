import ArborJSON
import ArborModel

/// The choice of a subentity by a member of an item, such as `{"type": "Photo"}`.
///
/// Items without the member, and items that describe an existing object of a subentity, are read
/// with the mapping of that object's entity, or of the entity that the list or relationship names.
struct SubentityChoice {
  /// The entity that the list or relationship names.
  let entity: EntitySchema
  /// The paths of the member, in order of precedence.
  let routes: [ItemRoute]
  /// The values of the member and the entities that they name.
  let entities: [String: EntitySchema]
  /// Whether other values of the member are errors. Otherwise they choose no subentity.
  let isStrict: Bool
  /// A closure that returns the mapping of an entity, or `nil` for the mapping that has the choice.
  let mapping: (EntitySchema) throws(ArborError) -> ExchangeMapping?

  /// Returns the mapping for an item, or `nil` for the mapping that has the choice.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` if the member doesn't name an entity.
  func mapping(for item: JSONNode) throws(ArborError) -> ExchangeMapping? {
    guard let value = routes.lazy.compactMap({ $0.value(in: item) }).first, !value.isNull else {
      return nil
    }
    let word = value.string ?? value.number?.text
    if let chosen = word.flatMap({ entities[$0] }) { return try mapping(chosen) }
    guard isStrict else { return nil }
    let names = entities.keys.sorted()
    throw item.error(
      "The item's \(name) doesn't name an entity that is imported as \(entity.name). Use "
        + names.map { "“\($0)”" }.joined(separator: " or ") + "."
        + NearestName.hint(word ?? "", in: names)
    ).with(entity: entity.name, offending: value.excerpt)
  }

  /// Returns the error for an item that chooses no subentity although its object must be inserted.
  func abstraction(of item: JSONNode) -> ArborError {
    item.error(
      "\(entity.name) is abstract, and the item's \(name) doesn't name one of its subentities. Use "
        + entities.keys.sorted().map { "“\($0)”" }.joined(separator: " or ") + "."
    ).with(entity: entity.name)
  }

  private var name: String { "“\(routes.last?.description ?? "")”" }
}
