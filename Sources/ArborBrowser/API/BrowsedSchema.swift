internal import ArborModel

/// A model with the inherited properties of its entities resolved.
struct BrowsedSchema: Sendable {
  /// An entity with all of its properties, those of its ancestors first.
  struct Entity: Sendable {
    let description: EntityDescription
    /// The stored attributes.
    let attributes: [AttributeDescription]
    let relationships: [RelationshipDescription]
    /// The name of the attribute that serves as an object's label, or `nil` if there isn't one.
    let title: String?

    var name: String { description.name }
  }

  let entities: [Entity]
  private let byName: [String: Entity]

  init(_ model: ManagedObjectModel) {
    entities = model.entities.map { Self.entity($0, in: model) }
    byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the entity with the given name, or throws `unknownName`.
  func entity(_ name: String) throws(ArborError) -> Entity {
    if let entity = byName[name] { return entity }
    throw ArborError(
      .unknownName,
      "The model has no entity \(name)." + NearestName.hint(name, in: entities.map(\.name)))
  }

  /// Returns whether a to-many relationship is the inverse of a to-one relationship, which is the
  /// one that is stored.
  func isKeptByMembers(_ relationship: RelationshipDescription) -> Bool {
    let inverse = byName[relationship.destination]?.relationships
      .first { $0.name == relationship.inverse }
    return inverse?.isToMany == false
  }

  private static func entity(
    _ description: EntityDescription, in model: ManagedObjectModel
  ) -> Entity {
    let lineage = Array(model.lineage(of: description).reversed())
    let attributes = lineage.flatMap(\.attributes).filter { !$0.isTransient }
    return Entity(
      description: description, attributes: attributes,
      relationships: lineage.flatMap(\.relationships),
      title: title(among: attributes, of: lineage))
  }

  /// Returns the name of the attribute that labels an object, or `nil` if no attribute can: the
  /// model's `PrimaryAttribute`, a unique attribute, one with a common name for labels, or any
  /// string, in this order.
  ///
  /// Unique strings come before other unique values. A unique UUID is an identifier for programs, so
  /// it is a label only if there is no string. Binary values are no labels.
  private static func title(
    among attributes: [AttributeDescription], of lineage: [EntityDescription]
  ) -> String? {
    let noted = lineage.reversed().lazy.compactMap { $0.userInfo["PrimaryAttribute"] }.first
    if let noted, attributes.contains(where: { $0.name == noted }) { return noted }
    let constraints = lineage.flatMap(\.uniquenessConstraints).filter { $0.count == 1 }.joined()
    let unique = attributes.filter { constraints.contains($0.name) && $0.type != .binary }
    let texts = attributes.filter { $0.type == .string }
    let usual = ["name", "title", "fullName", "label", "displayName", "caption", "code"]
    func best(_ attributes: [AttributeDescription]) -> String? {
      let names = attributes.map(\.name)
      return usual.first(where: names.contains) ?? names.first
    }
    return best(unique.filter { $0.type == .string })
      ?? unique.first { $0.type != .uuid }?.name
      ?? best(texts) ?? unique.first?.name
  }
}
