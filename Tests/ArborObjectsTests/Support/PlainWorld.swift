import ArborModel

/// A naive object graph of dictionaries, against which contexts are tested: no records, no edits,
/// no store, and both sides of every relationship spelt out.
struct PlainWorld: Equatable {
  /// A relationship as the naive world knows it; the inverse is nil where none exists.
  struct Relation {
    let entity: String
    let name: String
    let destination: String
    let inverse: String?
    let isToMany: Bool
    let isOrdered: Bool
    let rule: RelationshipDescription.DeleteRule
  }

  static let relations: [Relation] = [
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

  static func relations(of entity: String) -> [Relation] {
    relations.filter { $0.entity == entity }
  }

  /// The same as a model.
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities.map { entity in
        EntityDescription(
          name: entity,
          attributes: [
            AttributeDescription(name: "name", type: .string, isOptional: true, isIndexed: true),
            AttributeDescription(
              name: "age", type: .integer32, isOptional: true, isIndexed: entity == "Person"),
          ],
          relationships: relations(of: entity).map {
            RelationshipDescription(
              name: $0.name, destination: $0.destination, inverse: $0.inverse,
              isToMany: $0.isToMany, isOrdered: $0.isOrdered, deleteRule: $0.rule)
          })
      }
    ).validated()
  }

  struct Item: Equatable {
    var entity: String
    var values: [String: Value] = [:]
    /// By relationship: the members, of a to-one relationship at most one. Without inverses the
    /// hidden side is kept under the name with a tilde.
    var links: [String: [Int]] = [:]
  }

  /// The objects by a key of the test's own.
  var items: [Int: Item] = [:]

  func entity(of key: Int) -> String { items[key]?.entity ?? "" }
  func members(_ key: Int, _ name: String) -> [Int] { items[key]?.links[name] ?? [] }

  private func hidden(_ relation: Relation) -> String { relation.inverse ?? "~" + relation.name }

  private func isToMany(inverseOf relation: Relation) -> Bool {
    guard let inverse = relation.inverse else { return true }
    return Self.relations(of: relation.destination).first { $0.name == inverse }?.isToMany ?? true
  }

  private func inverse(of relation: Relation) -> Relation {
    Self.relations(of: relation.destination).first { $0.name == relation.inverse }
      ?? Relation(
        relation.destination, "~" + relation.name, relation.entity, relation.name, many: true)
  }

  mutating func link(_ relation: Relation, _ owner: Int, _ member: Int) {
    guard !members(owner, relation.name).contains(member) else { return }
    let inverse = inverse(of: relation)
    if !relation.isToMany {
      for former in members(owner, relation.name) { unlink(relation, owner, former) }
    }
    if !inverse.isToMany {
      for former in members(member, inverse.name) { unlink(inverse, member, former) }
    }
    items[owner]?.links[relation.name, default: []].append(member)
    guard !(relation.name == inverse.name && owner == member) else { return }
    items[member]?.links[inverse.name, default: []].append(owner)
  }

  mutating func unlink(_ relation: Relation, _ owner: Int, _ member: Int) {
    items[owner]?.links[relation.name]?.removeAll { $0 == member }
    let inverse = inverse(of: relation).name
    items[member]?.links[inverse]?.removeAll { $0 == owner }
  }

  mutating func replace(_ relation: Relation, _ owner: Int, with members: [Int]) {
    for former in self.members(owner, relation.name) where !members.contains(former) {
      unlink(relation, owner, former)
    }
    for member in members { link(relation, owner, member) }
    items[owner]?.links[relation.name] = members
  }

  mutating func delete(_ key: Int) {
    guard let item = items[key] else { return }
    var cascaded: [Int] = []
    for relation in Self.relations(of: item.entity) {
      for member in members(key, relation.name) {
        if relation.rule == .cascade { cascaded.append(member) }
        unlink(relation, key, member)
      }
    }
    // Whoever points here without an inverse.
    for relation in Self.relations
    where relation.inverse == nil && relation.destination == item.entity {
      for owner in members(key, "~" + relation.name) { unlink(relation, owner, key) }
    }
    items[key] = nil
    for member in cascaded { delete(member) }
  }

  /// The world with the order taken out of what has none, to be compared.
  var settled: [Int: Item] {
    items.mapValues { item in
      var item = item
      for (name, members) in item.links {
        let isOrdered = Self.relations(of: item.entity).first { $0.name == name }?.isOrdered
        item.links[name] = isOrdered == true ? members : members.sorted()
        if members.isEmpty || name.hasPrefix("~") { item.links[name] = nil }
      }
      return item
    }
  }
}

extension PlainWorld.Relation {
  init(
    _ entity: String, _ name: String, _ destination: String, _ inverse: String?, many: Bool = false,
    ordered: Bool = false, rule: RelationshipDescription.DeleteRule = .nullify
  ) {
    self.init(
      entity: entity, name: name, destination: destination, inverse: inverse, isToMany: many,
      isOrdered: ordered, rule: rule)
  }
}
