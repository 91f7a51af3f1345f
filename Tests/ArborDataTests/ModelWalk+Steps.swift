import ArborData
import Foundation
import TestSupport
import Testing

/// Changes that take a pass over the objects, or code.
extension ModelWalk {
  /// Lets a to-one relationship lead to several, or gives the members of one an order or none.
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
      // Without an order members ascend, and so they begin with one.
      $0.changeLinks(owner) { $0[name]?.sort() }
    }
  }

  private mutating func text(_ entity: Int) -> Int? {
    model.entities[entity].attributes.indices.filter {
      model.entities[entity].attributes[$0].type == .string
    }.randomElement(using: &random)
  }

  /// Replaces texts by their lengths.
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
          guard case .string(let text) = old[name] as Value else { return }
          new[name] = Value.integer(Int64(text.count))
        }
      }
    ) {
      $0.change(owner) { values in
        guard case .string(let text)? = values[name] else { return }
        values[name] = .integer(Int64(text.count))
      }
    }
  }

  /// Replaces texts by links to objects of a new entity that have them.
  mutating func splitAttribute(_ entity: Int) -> Change? {
    guard let index = text(entity), let target = freeName("E", model.entities.map(\.name))
    else { return nil }
    let owner = model.entities[entity].name
    let name = model.entities[entity].attributes.remove(at: index).name
    model.entities[entity].relationships.append(
      RelationshipDescription(name: name, destination: target))
    model.entities.append(Self.entity(target))
    // No other object has these numbers, in whatever order code meets the texts.
    let base = lastID
    lastID *= 2
    return Change(
      words: "\(owner).\(name) split into \(target)",
      code: { migration in
        try migration.migrate(owner) { old, new in
          guard case .string(let text) = old[name] as Value else { return }
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
