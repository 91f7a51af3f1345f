package import ArborFoundation
package import ArborModel
package import ArborStore

/// The pending changes as an overlay for queries.
extension Session: PendingState {
  /// The session, if there is anything to overlay.
  var overlay: (any PendingState)? { pending.count > 0 || registry.count > 0 ? self : nil }

  package var dirty: NumberMap { pending.map }

  package var known: NumberMap? { registry.map }

  package func pendingRows(
    of entity: EntitySchema, _ selection: PendingSelection?
  ) -> [(ObjectNumber, RecordView)] {
    pending.rows(of: entity, selection)
  }

  package func pendingRecord(of number: ObjectNumber) -> RecordView? { pending.record(of: number) }

  package func isDeleted(_ number: ObjectNumber) -> Bool {
    pending.change(of: number)?.kind == .deleted
  }

  package func touches(_ entity: EntitySchema) -> Bool {
    if entity.concreteFamily.contains(where: { pending.hasChanges(ofEntity: $0) }) {
      return true
    }
    return links.hasEdits { owner in
      schema.entity(of: owner).map { entity.concreteFamily.contains($0.index) } ?? false
    }
  }

  package func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, over stored: [ObjectNumber]
  ) -> [ObjectNumber] {
    edit(of: owner, relationship)?.members(over: stored) ?? stored
  }

  package func changedMembers(
    of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> (added: [ObjectNumber], removed: [ObjectNumber])? {
    edit(of: owner, relationship).map { ($0.addedMembers, $0.removedMembers) }
  }

  package func isMember(
    _ member: ObjectNumber, of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> Bool? {
    edit(of: owner, relationship)?.says(member)
  }

  package func blob(_ key: BlobKey) -> Data? { unstoredBlob(key) }

  /// Returns the edit of a relationship whose members differ from the stored ones, or `nil` if
  /// there is none.
  private func edit(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> PendingMembers? {
    links.edit(owner, relationship).flatMap { $0.isSilent ? nil : $0 }
  }
}
