package import ArborModel
package import ArborStore

/// Builds a change set from entity and property names, without a context.
package final class Draft {
  package let file: StoreEngine
  package var changes = ChangeSet()
  private let allocator = SlabAllocator()
  /// The slabs that back the records of the draft.
  private var slabs: [RecordSlab] = []

  package init(_ file: StoreEngine) { self.file = file }

  package func entity(_ name: String) throws -> EntitySchema {
    guard let entity = file.schema.entity(named: name) else { throw DraftError(name) }
    return entity
  }

  /// Inserts an object with the given attribute values and to-one targets.
  @discardableResult
  package func insert(
    _ name: String, _ values: [String: PropertyValue] = [:],
    to targets: [String: ObjectNumber] = [:],
    number: ObjectNumber? = nil
  ) throws -> ObjectNumber {
    let entity = try entity(name)
    let taken =
      try number
      ?? ObjectNumber(
        entity: entity.number, sequence: file.takeNumbers(1, for: entity).lowerBound)
    var record = RecordBuffer(copying: entity.layout.template, into: allocator)
    try fill(&record, entity, values, targets)
    changes.records.append(.insert(taken, record.view))
    return taken
  }

  /// Updates an object from its committed state. A `nil` in `targets` unlinks.
  package func update(
    _ number: ObjectNumber, _ values: [String: PropertyValue] = [:],
    to targets: [String: ObjectNumber?] = [:], from version: UInt32? = nil
  ) throws {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    guard let entity = file.schema.entity(of: number),
      let stored = try snapshot.record(number, allocator: allocator)
    else { throw DraftError("\(number)") }
    slabs.append(allocator.slab)
    var record = RecordBuffer(copying: stored.bytes, into: allocator)
    try fill(&record, entity, values, targets.compactMapValues { $0 })
    for (name, target) in targets where target == nil {
      record.setNull(try field(name, entity))
    }
    let others = ChangeSet.RecordChange.otherProperties
    changes.records.append(
      .update(number, from: version ?? stored.version, record.view, changedProperties: others))
  }

  package func delete(_ number: ObjectNumber, from version: UInt32? = nil) throws {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let stored = try snapshot.record(number, allocator: allocator)
    changes.records.append(.delete(number, from: version ?? stored?.version ?? 0))
  }

  /// Adds an edit of one side of a relationship.
  package func edit(
    _ owner: ObjectNumber, _ relationship: String, _ edit: ChangeSet.LinkEdit.Edit
  ) throws {
    changes.links.append(
      ChangeSet.LinkEdit(
        owner: owner, relationship: try self.relationship(relationship, of: owner), edit))
  }

  /// Links two objects on both sides.
  package func link(
    _ owner: ObjectNumber, _ name: String, _ member: ObjectNumber
  ) throws {
    try both(owner, name, member, { .add($0) })
  }

  /// Unlinks two objects on both sides.
  package func unlink(
    _ owner: ObjectNumber, _ name: String, _ member: ObjectNumber
  ) throws {
    try both(owner, name, member, { .remove($0) })
  }

  private func both(
    _ owner: ObjectNumber, _ name: String, _ member: ObjectNumber,
    _ edit: (ObjectNumber) -> ChangeSet.LinkEdit.Edit
  ) throws {
    let relationship = try relationship(name, of: owner)
    let inverse = file.schema.inverse(of: relationship)
    changes.links.append(
      ChangeSet.LinkEdit(owner: owner, relationship: relationship, edit(member)))
    guard inverse.storage == .links else { return }
    changes.links.append(ChangeSet.LinkEdit(owner: member, relationship: inverse, edit(owner)))
  }

  package func relationship(
    _ name: String, of owner: ObjectNumber
  ) throws -> RelationshipSchema {
    guard
      let found = file.schema.entity(of: owner)?.relationships.first(where: { $0.name == name })
    else { throw DraftError(name) }
    return found
  }

  /// Retains a slab that backs a record of the draft.
  package func keep(_ slab: RecordSlab) { slabs.append(slab) }

  /// Commits the drafted changes and clears the draft.
  @discardableResult
  package func commit() throws -> CommitReceipt {
    defer { changes = ChangeSet() }
    return try withExtendedLifetime(slabs) { try file.commit(changes) }
  }

  private func fill(
    _ record: inout RecordBuffer, _ entity: EntitySchema, _ values: [String: PropertyValue],
    _ targets: [String: ObjectNumber]
  ) throws {
    for (name, value) in values {
      guard record.set(try field(name, entity), value, allocator: allocator) else {
        throw DraftError("\(name) = \(value)")
      }
    }
    for (name, target) in targets { record.store(try field(name, entity), target.rawValue) }
    slabs.append(record.slab)
  }

  package func field(_ name: String, _ entity: EntitySchema) throws -> RecordField {
    if let attribute = entity.attributes.first(where: { $0.name == name }) {
      return attribute.field
    }
    guard let relationship = entity.relationships.first(where: { $0.name == name }),
      case .field(let index) = relationship.storage
    else { throw DraftError(name) }
    return entity.layout.fields[index]
  }

  /// Returns the stored value of an attribute, or the raw object number of a to-one target.
  package func value(_ number: ObjectNumber, _ name: String) throws -> PropertyValue? {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    guard let entity = file.schema.entity(of: number),
      let record = try snapshot.record(number, allocator: allocator)
    else { return nil }
    return record.value(try field(name, entity))
  }

  /// Returns the stored members of a relationship.
  package func members(_ owner: ObjectNumber, _ name: String) throws -> [ObjectNumber] {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.members(relationship(name, of: owner), of: owner)
  }
}

/// A name that the schema doesn't contain, or a value that doesn't fit its attribute.
package struct DraftError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = "Draft: \(description)" }
}
