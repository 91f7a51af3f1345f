internal import ArborFoundation
internal import ArborModel

/// Checks that nothing outside a change set links to the objects it deletes.
extension CommitPreparation {
  func checkNothingLinked() throws(StoreError) {
    var linked: [StillLinked] = []
    for change in changes where change.kind == .delete {
      guard let plan = plan(of: change.number) else { continue }
      for inbound in plan.inbound { try check(change.number, plan, inbound, &linked) }
    }
    if !linked.isEmpty { throw .stillLinked(linked) }
  }

  private func check(
    _ deleted: ObjectNumber, _ plan: WritePlan, _ inbound: WritePlan.Inbound,
    _ linked: inout [StillLinked]
  ) throws(StoreError) {
    switch inbound {
    case .derived(let relationshipIndex, let inverse):
      guard let maintainer = workspace.relationships[relationshipIndex] else { return }
      for member in try members(relationshipIndex, of: deleted)
      where maintainer.run.isRemoved(deleted, member) != true
        && !workspace.swept.contains(member.rawValue)
      {
        linked.append(StillLinked(deleted: deleted, owner: member, relationship: inverse.name))
      }
    case .links(let relationshipIndex, let inverse, let back):
      workspace.relationships[relationshipIndex]?.droppedOwners.append(deleted)
      workspace.ordered[relationshipIndex]?.droppedOwners.append(deleted)
      for other in try members(relationshipIndex, of: deleted)
      where try leadsBack(other, to: deleted, inverse, back) {
        linked.append(StillLinked(deleted: deleted, owner: other, relationship: inverse.name))
      }
    case .field(let field, let inverse, let back):
      guard let record = try record(deleted, plan), let other = record.reference(field) else {
        return
      }
      if try leadsBack(other, to: deleted, inverse, back) {
        linked.append(StillLinked(deleted: deleted, owner: other, relationship: inverse.name))
      }
    }
  }

  /// Returns the stored members of an owner, without the change set's edits.
  private func members(
    _ relationshipIndex: Int, of owner: ObjectNumber
  ) throws(StoreError) -> [ObjectNumber] {
    try storing(store.databases.relationships[relationshipIndex].members(of: owner, reader))
  }

  /// Returns whether an object will link to a deleted one once the change set has been written.
  private func leadsBack(
    _ other: ObjectNumber, to deleted: ObjectNumber, _ inverse: RelationshipSchema,
    _ back: WritePlan.Back
  ) throws(StoreError) -> Bool {
    let change = change(of: other)
    if change?.kind == .delete { return false }
    switch back {
    case .field:
      // The inverse of the other object's own entity, because the field's offset differs between
      // entities.
      guard let plan = plan(of: other), let own = plan.entity.own(inverse),
        case .field(let index) = own.storage
      else { return false }
      let field = plan.entity.layout.fields[index]
      if let pending = change?.record { return pending.reference(field) == deleted }
      return try record(other, plan)?.reference(field) == deleted
    case .links(let relationshipIndex, isOrdered: false):
      guard let maintainer = workspace.relationships[relationshipIndex] else { return false }
      if let isRemoved = maintainer.run.isRemoved(other, deleted) { return !isRemoved }
      return try storing(maintainer.relationship.contains(deleted, of: other, reader))
    case .links(let relationshipIndex, isOrdered: true):
      guard let maintainer = workspace.ordered[relationshipIndex] else { return false }
      if let outcome = maintainer.outcome(of: other) { return outcome.members.contains(deleted) }
      return try storing(OrderedMembers.position(reader, maintainer.members, other, deleted) != nil)
    }
  }

  /// Returns the stored record of an object, or `nil` if it does not exist. The record is valid
  /// until the next one is read.
  func record(_ number: ObjectNumber, _ plan: WritePlan) throws(StoreError) -> RecordView? {
    try reader.record(number, of: plan.entity, in: plan.records, store.layouts, upgraded)
  }
}

/// Collects the preserved values of deleted objects: those of attributes that the model marks.
extension CommitPreparation {
  /// Collects the preserved values of an object that the set deletes.
  func collectTombstone(
    _ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan
  ) throws(StoreError) {
    var values: [String: PropertyValue] = [:]
    for attribute in plan.preserved {
      let value = try value(attribute.field, of: number, record, plan)
      if !value.isNull { values[attribute.name] = value }
    }
    if values.isEmpty { return }
    workspace.tombstones.append(HistoryEntry.Tombstone(number: number, values: values))
  }

  /// Returns a value of the record, or the binary value that it refers to.
  private func value(
    _ field: RecordField, of number: ObjectNumber, _ record: RecordView, _ plan: WritePlan
  ) throws(StoreError) -> PropertyValue {
    guard field.isExternal, let reference = record.blob(field) else { return record.value(field) }
    guard let database = store.databases.blobs(plan.entity.index) else { return .null }
    let data = try storing(
      BlobStorage.read(reference, BlobName(reference, of: number, field), database, reader))
    guard let data else {
      throw .corrupted(
        entity: plan.entity.name, object: number,
        what: "A binary value that the record refers to is missing or damaged.")
    }
    return .binary(data)
  }
}
