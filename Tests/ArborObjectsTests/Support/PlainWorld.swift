import ArborModel

/// A naive object graph of dictionaries, with which contexts are compared. Both ends of every
/// relationship are stored explicitly.
struct PlainWorld: Equatable {
  /// A relationship of the naive graph; `inverse` is `nil` if it has none.
  struct Relationship {
    let entity: String
    let name: String
    let destination: String
    let inverse: String?
    let isToMany: Bool
    let isOrdered: Bool
    let rule: RelationshipDescription.DeleteRule
  }

  static let relationships: [Relationship] = [
    .init("Person", "boss", "Person", "reports"),
    .init("Person", "reports", "Person", "boss", many: true),
    .init("Person", "team", "Team", "members"),
    .init("Team", "members", "Person", "team", many: true, rule: .cascade),
    .init("Person", "spouse", "Person", "spouse"),
    .init("Person", "friends", "Person", "friends", many: true),
    .init("Person", "skills", "Skill", "holders", many: true),
    .init("Skill", "holders", "Person", "skills", many: true, rule: .noAction),
    .init("Person", "likes", "Skill", nil, many: true),
    .init("Person", "home", "Team", nil),
    .init("Person", "path", "Note", nil, many: true, ordered: true),
    .init("Person", "notes", "Note", "author", many: true, ordered: true, rule: .cascade),
    .init("Note", "author", "Person", "notes"),
    .init("Person", "favourites", "Skill", "fans", many: true, ordered: true),
    .init("Skill", "fans", "Person", "favourites", many: true, ordered: true),
    .init("Note", "next", "Note", "previous", rule: .cascade),
    .init("Note", "previous", "Note", "next"),
    .init("Skill", "desk", "Team", "skills"),
    .init("Team", "skills", "Skill", "desk", many: true, rule: .noAction),
  ]
  static let entities = ["Person", "Team", "Skill", "Note"]

  static func relationships(of entity: String) -> [Relationship] {
    relationships.filter { $0.entity == entity }
  }

  /// Returns the equivalent model.
  static func model() throws -> ManagedObjectModel { try built.get() }

  private static let built = Result {
    try ManagedObjectModel(
      entities: entities.map { entity in
        EntityDescription(
          name: entity,
          attributes: [
            AttributeDescription(name: "name", type: .string, isOptional: true, isIndexed: true),
            AttributeDescription(
              name: "age", type: .integer32, isOptional: true, isIndexed: entity == "Person"),
          ],
          relationships: relationships(of: entity).map {
            RelationshipDescription(
              name: $0.name, destination: $0.destination, inverse: $0.inverse,
              isToMany: $0.isToMany, isOrdered: $0.isOrdered, deleteRule: $0.rule)
          })
      }
    ).validated()
  }

  struct Item: Equatable {
    var entity: String
    var values: [String: PropertyValue] = [:]
    /// The members by relationship, at most one if it is to-one. The hidden end of a relationship
    /// without inverse is stored under its name with a tilde.
    var links: [String: [Int]] = [:]
  }

  /// The objects by keys that the test assigns.
  var items: [Int: Item] = [:]

  func entity(of key: Int) -> String { items[key]?.entity ?? "" }
  func members(_ key: Int, _ name: String) -> [Int] { items[key]?.links[name] ?? [] }

  private func hidden(_ relationship: Relationship) -> String {
    relationship.inverse ?? "~" + relationship.name
  }

  private func isToMany(inverseOf relationship: Relationship) -> Bool {
    guard let inverse = relationship.inverse else { return true }
    return Self.relationships(of: relationship.destination).first { $0.name == inverse }?.isToMany
      ?? true
  }

  private func inverse(of relationship: Relationship) -> Relationship {
    Self.relationships(of: relationship.destination).first { $0.name == relationship.inverse }
      ?? Relationship(
        relationship.destination, "~" + relationship.name, relationship.entity, relationship.name,
        many: true)
  }

  mutating func link(_ relationship: Relationship, _ owner: Int, _ member: Int) {
    guard !members(owner, relationship.name).contains(member) else { return }
    let inverse = inverse(of: relationship)
    if !relationship.isToMany {
      for former in members(owner, relationship.name) { unlink(relationship, owner, former) }
    }
    if !inverse.isToMany {
      for former in members(member, inverse.name) { unlink(inverse, member, former) }
    }
    items[owner]?.links[relationship.name, default: []].append(member)
    guard !(relationship.name == inverse.name && owner == member) else { return }
    items[member]?.links[inverse.name, default: []].append(owner)
  }

  mutating func unlink(_ relationship: Relationship, _ owner: Int, _ member: Int) {
    items[owner]?.links[relationship.name]?.removeAll { $0 == member }
    let inverse = inverse(of: relationship).name
    items[member]?.links[inverse]?.removeAll { $0 == owner }
  }

  mutating func replace(_ relationship: Relationship, _ owner: Int, with members: [Int]) {
    for former in self.members(owner, relationship.name) where !members.contains(former) {
      unlink(relationship, owner, former)
    }
    for member in members { link(relationship, owner, member) }
    items[owner]?.links[relationship.name] = members
  }

  mutating func delete(_ key: Int) {
    guard let item = items[key] else { return }
    var cascaded: [Int] = []
    for relationship in Self.relationships(of: item.entity) {
      for member in members(key, relationship.name) {
        if relationship.rule == .cascade { cascaded.append(member) }
        unlink(relationship, key, member)
      }
    }
    // Objects that refer to this one by a relationship without inverse.
    for relationship in Self.relationships
    where relationship.inverse == nil && relationship.destination == item.entity {
      for owner in members(key, "~" + relationship.name) { unlink(relationship, owner, key) }
    }
    items[key] = nil
    for member in cascaded { delete(member) }
  }

  /// Removes an object without applying delete rules.
  mutating func remove(_ key: Int) {
    guard let item = items[key] else { return }
    for relationship in Self.relationships(of: item.entity) {
      for member in members(key, relationship.name) { unlink(relationship, key, member) }
    }
    for relationship in Self.relationships
    where relationship.inverse == nil && relationship.destination == item.entity {
      for owner in members(key, "~" + relationship.name) { unlink(relationship, owner, key) }
    }
    items[key] = nil
  }

  /// Replaces the links of an object by those in another graph, except links to objects that don't
  /// exist in this one.
  ///
  /// - Parameter includesHidden: Whether to replace links without inverse that lead to the object.
  mutating func restoreLinks(of key: Int, from other: PlainWorld, includesHidden: Bool) {
    func restore(_ relationship: Relationship, in world: inout PlainWorld) {
      let wanted = other.members(key, relationship.name).filter { world.items[$0] != nil }
      guard relationship.isToMany else {
        for former in world.members(key, relationship.name) where !wanted.contains(former) {
          world.unlink(relationship, key, former)
        }
        for member in wanted { world.link(relationship, key, member) }
        return
      }
      world.replace(relationship, key, with: wanted)
    }
    for relationship in Self.relationships(of: entity(of: key)) { restore(relationship, in: &self) }
    guard includesHidden else { return }
    for relationship in Self.relationships
    where relationship.inverse == nil && relationship.destination == entity(of: key) {
      restore(inverse(of: relationship), in: &self)
    }
  }

  /// The objects in a comparable form, with unordered members sorted and hidden ends removed.
  var settled: [Int: Item] {
    items.mapValues { item in
      var item = item
      for (name, members) in item.links {
        let isOrdered = Self.relationships(of: item.entity).first { $0.name == name }?.isOrdered
        item.links[name] = isOrdered == true ? members : members.sorted()
        if members.isEmpty || name.hasPrefix("~") { item.links[name] = nil }
      }
      return item
    }
  }
}

extension PlainWorld.Relationship {
  init(
    _ entity: String, _ name: String, _ destination: String, _ inverse: String?, many: Bool = false,
    ordered: Bool = false, rule: RelationshipDescription.DeleteRule = .nullify
  ) {
    self.init(
      entity: entity, name: name, destination: destination, inverse: inverse, isToMany: many,
      isOrdered: ordered, rule: rule)
  }
}
