import ArborModel

/// A naive store shared by several naive contexts, with objects as dictionaries and links as pairs.
struct PlainStore: Equatable {
  /// An object's attributes and the keys of its to-one targets, by name.
  struct Item: Equatable {
    var entity: String
    var values: [String: Int] = [:]
  }

  struct Link: Hashable {
    let person: Int
    let skill: Int
  }

  var items: [Int: Item] = [:]
  var links: Set<Link> = []
  /// Whether the members of all relationships are ordered.
  var isOrdered = false
  /// Whether persons and teams have one-to-one pairs.
  var isPaired = false
  /// The objects that each commit wrote, in merge order.
  var commits: [[Int]] = []
  /// The members of ordered lists.
  var orders: [PlainList: [Int]] = [:]

  static let attributes = ["a", "b", "c"]

  static func model(
    isOrdered: Bool = false, isPaired: Bool = false
  ) throws -> ManagedObjectModel {
    func entity(_ name: String, _ relationships: [RelationshipDescription]) -> EntityDescription {
      EntityDescription(
        name: name,
        attributes: attributes.map {
          AttributeDescription(name: $0, type: .integer32, isOptional: true, isIndexed: $0 == "a")
        }, relationships: relationships)
    }
    return try ManagedObjectModel(entities: [
      entity(
        "Person",
        [
          RelationshipDescription(name: "team", destination: "Team", inverse: "members"),
          RelationshipDescription(
            name: "skills", destination: "Skill", inverse: "holders", isToMany: true,
            isOrdered: isOrdered),
        ] + (isPaired ? [.init(name: "desk", destination: "Team", inverse: "clerk")] : [])),
      entity(
        "Team",
        [
          RelationshipDescription(
            name: "members", destination: "Person", inverse: "team", isToMany: true,
            isOrdered: isOrdered)
        ] + (isPaired ? [.init(name: "clerk", destination: "Person", inverse: "desk")] : [])),
      entity(
        "Skill",
        [
          RelationshipDescription(
            name: "holders", destination: "Person", inverse: "skills", isToMany: true,
            isOrdered: isOrdered)
        ]),
    ]).validated()
  }

  /// Removes references to missing objects.
  mutating func dropDangling() {
    for (key, item) in items {
      for name in ["team", "desk", "clerk"] {
        if let target = item.values[name], items[target] == nil { items[key]?.values[name] = nil }
      }
    }
    links = links.filter { items[$0.person] != nil && items[$0.skill] != nil }
  }
}
