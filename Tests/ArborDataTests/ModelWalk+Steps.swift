import ArborData
import Foundation
import TestSupport
import Testing

/// Changes that need a pass over the objects, or custom code.
extension ModelWalk {
  /// Makes a to-one relationship to-many, or toggles the order of a to-many relationship.
  mutating func widenRelationship(_ entity: Int) -> Change? {
    let relationships = model.entities[entity].relationships
    guard let index = relationships.indices.randomElement(using: &random) else { return nil }
    var relationship = relationships[index]
    let words = "\(model.entities[entity].name).\(relationship.name)"
    if relationship.isToMany {
      relationship.isOrdered.toggle()
    } else {
      relationship.isToMany = true
    }
    model.entities[entity].relationships[index] = relationship
    let (owner, name) = (model.entities[entity].name, relationship.name)
    return Change(words: "\(words) \(relationship.isOrdered ? "ordered" : "to-many, no order")") {
      // Without an order, members are sorted, so they must be sorted from the beginning.
      $0.changeLinks(owner) { $0[name]?.sort() }
    }
  }

  /// Makes a to-many relationship to-one, which keeps the first of its members, or the one with the
  /// least `id` if they have no order.
  mutating func narrowRelationship(_ entity: Int) -> Change? {
    let relationships = model.entities[entity].relationships
    let candidates = relationships.indices.filter { index in
      // The members of an ordered inverse would change their order.
      relationships[index].isToMany && !(inverse(of: relationships[index])?.isOrdered ?? false)
    }
    guard let index = candidates.randomElement(using: &random) else { return nil }
    let (owner, former) = (model.entities[entity].name, relationships[index])
    model.entities[entity].relationships[index].isToMany = false
    model.entities[entity].relationships[index].isOrdered = false
    return Change(
      words: "\(owner).\(former.name) to-one",
      code: { migration in
        try migration.migrate(owner) { old, new in
          var members = old[former.name] as [ManagedObject]
          if !former.isOrdered { members.sort { ($0["id"] as Int64) < ($1["id"] as Int64) } }
          new[former.name] = try members.first.flatMap { try migration.object(for: $0) }
        }
      }
    ) { plain in
      for (id, links) in plain.links[owner] ?? [:] {
        let members = links[former.name] ?? []
        plain.links[owner]?[id]?[former.name] = Array(members.prefix(1))
        guard let inverse = former.inverse else { continue }
        for member in members.dropFirst() {
          plain.links[former.destination]?[member]?[inverse]?.removeAll { $0 == id }
        }
      }
    }
  }

  private func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
    model.entity(named: relationship.destination)?.relationships.first {
      $0.name == relationship.inverse
    }
  }

  /// Replaces links by the least `id` of their targets, or by `nil`.
  mutating func unlinkRelationship(_ entity: Int) -> Change? {
    guard
      let index = model.entities[entity].relationships.indices.randomElement(using: &random)
    else { return nil }
    let former = model.entities[entity].relationships[index]
    let (owner, name) = (model.entities[entity].name, former.name)
    dropRelationship(entity, index)
    model.entities[entity].attributes.append(
      AttributeDescription(name: name, type: .integer64, isOptional: true))
    let after = model
    let code: @Sendable (MigrationManager) throws -> Void = { migration in
      try migration.migrate(owner) { old, new in
        let members: [ManagedObject] =
          former.isToMany ? old[name] : (old[name] as ManagedObject?).map { [$0] } ?? []
        new[name] = members.map { $0["id"] as Int64 }.min().map(PropertyValue.integer) ?? .null
      }
    }
    let isKept = Bool.random(using: &random)
    return Change(
      words: "\(owner).\(name) \(isKept ? "an id" : "an empty attribute") instead of links",
      code: isKept ? code : nil
    ) { plain in
      for id in (plain.values[owner] ?? [:]).keys {
        let first = isKept ? plain.links[owner]?[id]?[name]?.min() : nil
        plain.values[owner]?[id]?[name] = first.map(PropertyValue.integer) ?? .null
      }
      Self.keepKnownLinks(&plain, after)
    }
  }

  private mutating func text(_ entity: Int) -> Int? { attribute(entity) { $0.type == .string } }

  /// Replaces strings by their lengths.
  mutating func measureAttribute(_ entity: Int) -> Change? {
    guard let index = text(entity) else { return nil }
    let (owner, former) = (model.entities[entity].name, model.entities[entity].attributes[index])
    let name = former.name
    model.entities[entity].attributes[index] = AttributeDescription(
      name: name, type: .integer32, isOptional: true)
    return Change(
      words: "\(owner).\(name) measured",
      code: { migration in
        try migration.migrate(owner) { old, new in
          guard case .string(let text) = old[name] as PropertyValue else { return }
          new[name] = PropertyValue.integer(Int64(text.count))
        }
      }
    ) {
      $0.change(owner) { values in
        guard case .string(let text)? = values[name] else { return }
        values[name] = .integer(Int64(text.count))
      }
    }
  }

  /// Replaces strings by links to objects of a new entity that contain them.
  mutating func splitAttribute(_ entity: Int) -> Change? {
    guard let index = text(entity), let target = freeName("E", model.entities.map(\.name))
    else { return nil }
    let owner = model.entities[entity].name
    let name = model.entities[entity].attributes.remove(at: index).name
    model.entities[entity].relationships.append(
      RelationshipDescription(name: name, destination: target))
    model.entities.append(Self.entity(target))
    // Keeps the IDs unique, in whatever order the code processes the strings.
    let base = lastID
    lastID *= 2
    return Change(
      words: "\(owner).\(name) split into \(target)",
      code: { migration in
        try migration.migrate(owner) { old, new in
          guard case .string(let text) = old[name] as PropertyValue else { return }
          let part = try migration.insert(target)
          part["id"] = base + (old["id"] as Int64)
          part["a0"] = text
          new[name] = part
        }
      }
    ) { plain in
      plain.split(owner, name, into: target, from: base)
    }
  }
}
