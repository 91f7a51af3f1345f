import ArborJSON
import ArborModel
import ArborStore
import Foundation

/// Compares objects of an entity in two stores by their properties, matched by name.
///
/// Compares the stored end of a relationship: to-one ends, ordered to-many ends, and both ends of
/// many-to-many relationships. The inverse of a to-one relationship follows from it.
struct PropertyComparison {
  /// A value in one of the stores.
  struct Side {
    let json: JSONValue
    let text: String
  }

  struct Change {
    let property: String
    let before: Side
    let after: Side
  }

  private let old: StoreSide
  private let new: StoreSide
  private var attributes: [(old: AttributeSchema, new: AttributeSchema)] = []
  private var targets: [(name: String, old: RecordField, new: RecordField)] = []
  private var members: [(old: RelationshipSchema, new: RelationshipSchema)] = []
  /// The properties that only one store has, or whose types differ, with a description.
  private(set) var oddities: [(name: String, text: String)] = []

  init(
    _ old: StoreSide, _ oldEntity: EntitySchema, _ new: StoreSide, _ newEntity: EntitySchema
  ) {
    self.old = old
    self.new = new
    pairAttributes(oldEntity, newEntity)
    pairRelationships(oldEntity, newEntity)
  }

  private mutating func pairAttributes(_ oldEntity: EntitySchema, _ newEntity: EntitySchema) {
    let olds = oldEntity.attributes.filter { !$0.description.isTransient }
    let news = newEntity.attributes.filter { !$0.description.isTransient }
    for attribute in olds {
      guard let same = news.first(where: { $0.name == attribute.name }) else {
        addOddity(oldEntity, attribute.name, "only in the first store")
        continue
      }
      attributes.append((attribute, same))
      if attribute.description.type != same.description.type {
        addOddity(
          oldEntity, attribute.name,
          "\(attribute.description.type) in the first store, \(same.description.type) in the second"
        )
      }
    }
    for attribute in news where !olds.contains(where: { $0.name == attribute.name }) {
      addOddity(newEntity, attribute.name, "only in the second store")
    }
  }

  private mutating func pairRelationships(_ oldEntity: EntitySchema, _ newEntity: EntitySchema) {
    let olds = oldEntity.relationships.filter { !$0.isHidden }
    let news = newEntity.relationships.filter { !$0.isHidden }
    for relationship in olds {
      guard let same = news.first(where: { $0.name == relationship.name }) else {
        addOddity(oldEntity, relationship.name, "only in the first store")
        continue
      }
      switch (relationship.storage, same.storage) {
      case (.field(let one), .field(let other)):
        targets.append(
          (relationship.name, oldEntity.layout.fields[one], newEntity.layout.fields[other]))
      case (.derived, .derived): break
      default:
        guard relationship.isToMany == same.isToMany else {
          addOddity(
            oldEntity, relationship.name,
            relationship.isToMany
              ? "to-many in the first store, to-one in the second"
              : "to-one in the first store, to-many in the second")
          continue
        }
        members.append((relationship, same))
      }
    }
    for relationship in news where !olds.contains(where: { $0.name == relationship.name }) {
      addOddity(newEntity, relationship.name, "only in the second store")
    }
  }

  private mutating func addOddity(_ entity: EntitySchema, _ property: String, _ text: String) {
    oddities.append(("\(entity.name).\(property)", text))
  }

  /// Returns the differences between an object's values in the two stores.
  func changes(
    _ before: (number: ObjectNumber, record: RecordView),
    _ after: (number: ObjectNumber, record: RecordView)
  ) throws -> [Change] {
    var changes: [Change] = []
    for (one, other) in attributes {
      if let change = try change(one, other, before, after) { changes.append(change) }
    }
    for (name, one, other) in targets {
      let from = before.record.reference(one)
      let to = after.record.reference(other)
      if from.map(old.name) != to.map(new.name) {
        changes.append(
          Change(property: name, before: side(from, in: old), after: side(to, in: new)))
      }
    }
    for (one, other) in members {
      let from = try old.reading { try old.snapshot.members(one, of: before.number) }
      let to = try new.reading { try new.snapshot.members(other, of: after.number) }
      let (names, others) = (from.map(old.name), to.map(new.name))
      let areEqual =
        one.isOrdered && other.isOrdered ? names == others : names.sorted() == others.sorted()
      if !areEqual {
        changes.append(
          Change(property: one.name, before: side(from, in: old), after: side(to, in: new)))
      }
    }
    return changes
  }

  private func change(
    _ one: AttributeSchema, _ other: AttributeSchema,
    _ before: (number: ObjectNumber, record: RecordView),
    _ after: (number: ObjectNumber, record: RecordView)
  ) throws -> Change? {
    let (from, to) = (before.record.blob(one.field), after.record.blob(other.field))
    if from == nil, to == nil {
      let (from, to) = (before.record.value(one.field), after.record.value(other.field))
      return from == to ? nil : Change(property: one.name, before: side(from), after: side(to))
    }
    let first = try binary(before, one.field, from, in: old)
    let second = try binary(after, other.field, to, in: new)
    guard first != second else { return nil }
    return Change(property: one.name, before: side(ofBinary: first), after: side(ofBinary: second))
  }

  /// Returns a binary value from the record or from separate storage, or `nil` if it is null.
  private func binary(
    _ object: (number: ObjectNumber, record: RecordView), _ field: RecordField,
    _ reference: BlobReference?, in side: StoreSide
  ) throws -> Data? {
    if let reference {
      return try side.reading { try side.snapshot.blob(reference, of: object.number, field) }
    }
    guard case .binary(let data) = object.record.value(field) else { return nil }
    return data
  }

  // MARK: Texts

  private func side(_ value: PropertyValue) -> Side {
    Side(json: ValueText.json(value), text: ValueText.text(value))
  }

  private func side(_ target: ObjectNumber?, in store: StoreSide) -> Side {
    guard let target else { return Side(json: .null, text: "nil") }
    return Side(json: .string(store.name(target)), text: store.labels.text(target))
  }

  private func side(_ members: [ObjectNumber], in store: StoreSide) -> Side {
    let shown =
      members.prefix(8).map { store.labels.text($0) }.joined(separator: ", ")
      + (members.count > 8 ? ", …" : "")
    return Side(
      json: .array(members.map { .string(store.name($0)) }), text: "\(members.count): [\(shown)]")
  }

  /// Returns the side for a binary value, of which only the length is printed.
  private func side(ofBinary data: Data?) -> Side {
    guard let data else { return Side(json: .null, text: "nil") }
    return Side(json: ["bytes": JSONValue(data.count)], text: "\(data.count) bytes")
  }
}
