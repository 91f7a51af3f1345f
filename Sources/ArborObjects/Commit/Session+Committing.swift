internal import ArborModel
internal import ArborStore

/// The change set of a commit: the sum of the edits since the last one.
extension Session {
  /// Updates objects without net changes to their state after concurrent commits, so that links
  /// changed at one end are also changed at the other. Deleted objects are removed first, because
  /// dropping a link to them would change and thereby restore them.
  func yieldChangesWithoutEffect() {
    // A context that doesn't merge automatically hasn't noticed concurrent commits.
    let isUnaware = !mergesCommits
    let withoutEffect = pending.compactMap {
      ($0.concurrent != .none || isUnaware) && $0.hasNoEffect ? $0 : nil
    }
    for change in withoutEffect {
      guard let stored = storedRecord(of: change.object.number) else {
        recordMerge(of: change.object)
        takeAwayDeleted(change.object)
        continue
      }
      guard change.concurrent == .changed || stored.record.version != change.baseVersion else {
        continue
      }
      ChangeMerger(self).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
    mendLinks()
  }

  /// Unlinks changed objects that other commits have linked to objects deleted in this context, as
  /// the store does for unchanged ones. Not recorded for undo. Links to deleted objects created in
  /// this context are reported by validation.
  func unlinkFromDeleted() {
    guard pending.deletedCount > 0 else { return }
    let keeper = InverseKeeper(self)
    for change in pending.all where change.kind == .updated {
      for relationship in change.object.binding.entity.relationships {
        guard let field = relationship.field, let target = change.object.target(of: relationship),
          isDeleted(target), change.committed?.reference(field) == target
        else { continue }
        keeper.set(change.object, relationship, to: nil)
      }
    }
  }

  /// Returns the change set of all pending changes. Its records are borrowed.
  func changeSet() -> ChangeSet {
    var changes = ChangeSet()
    changes.records.reserveCapacity(pending.count)
    func append(_ edit: PendingMembers, _ change: ChangeSet.LinkEdit.Edit) {
      changes.links.append(.init(owner: edit.owner, relationship: edit.relationship, change))
    }
    var reordered: [ObjectNumber: UInt64] = [:]
    for (edit, members) in newOrders() {
      let bit = schema.entity(of: edit.owner)?.changeBit(ofLinks: edit.relationship.slot)
      reordered[edit.owner, default: 0] |= bit ?? EntitySchema.otherProperties
      append(edit, .reorder(members))
    }
    links.forEach { edit in
      guard edit.relationship.storage == .links, !edit.relationship.isOrdered,
        !isDeleted(edit.owner)
      else { return }
      for member in edit.removed.numbers { append(edit, .remove(member)) }
      for member in edit.added.numbers { append(edit, .add(member)) }
    }
    pending.forEach { change in
      let record = recordChange(change, reordered: reordered[change.object.number] ?? 0)
      change.isSubmitted = record != nil
      if let record { changes.records.append(record) }
    }
    return changes
  }

  /// Returns the record change to submit for a pending change, or `nil` if the object is unchanged.
  ///
  /// - Parameter reordered: The change bits of the object's reordered relationships.
  private func recordChange(_ change: PendingObject, reordered: UInt64) -> ChangeSet.RecordChange? {
    let object = change.object
    switch change.kind {
    case .inserted: return .insert(object.number, object.currentRecord, after: change.baseVersion)
    case .deleted: return .delete(object.number, from: change.baseVersion)
    case .dropped: return nil
    case .updated:
      guard let committed = change.committed else { return nil }
      var fields = committed.changedFields(
        since: object.currentRecord, in: object.binding.entity.layout)
      fields |= reordered
      guard fields != 0 else { return nil }
      return .update(
        object.number, from: change.baseVersion, object.currentRecord, changedProperties: fields)
    }
  }

  /// Returns the record changes to submit, without links.
  func recordChanges() -> [ChangeSet.RecordChange] {
    pending.compactMap { recordChange($0, reordered: 0) }
  }

  /// Returns the objects that changed only in the members of their relationships.
  func ownersOfLinks() -> [ManagedObject] {
    var owners: [ManagedObject] = []
    links.forEachOwner { number in
      if let owner = registry.object(number), owner.change == nil { owners.append(owner) }
    }
    return owners
  }
}

/// Completing a commit.
extension Session {
  /// Makes the pending changes the committed state of their objects.
  ///
  /// - Parameter committedSequence: The sequence of the commit, or `nil` if nothing was written.
  /// - Returns: The objects that had pending changes.
  func settleChanges(committedAt committedSequence: UInt64?) -> [ManagedObject] {
    memberships.removeAll()
    var committed: [ManagedObject] = []
    committed.reserveCapacity(pending.count)
    let hadLinks = !listeners.isEmpty && links.hasEdits
    pending.forEach { change in
      let object = change.object
      committed.append(object)
      if change.kind == .deleted {
        object.detach(.gone)
        registry.unregister(object)
      } else {
        setVersion(of: change, committedSequence)
        object.change = nil
        if !change.isSubmitted { yield(object, to: change.concurrent) }
      }
    }
    pending.removeAll()
    links.removeAll()
    registry.noteSettled(committed.count)
    if let committedSequence {
      if committedSequence == sequence + 1 {
        sequence = committedSequence
      } else {
        ownSequences.insert(committedSequence)
      }
    }
    notifyListeners { $0.noteCommitted() }
    if hadLinks, let committedSequence, committedSequence != sequence { hasConcurrentLinks = true }
    endConcurrentLinks()
    settleListeners()
    return committed
  }

  /// Sets the version of the record in memory to that in the store, if it was written.
  private func setVersion(of change: PendingObject, _ committedSequence: UInt64?) {
    guard change.isSubmitted, let working = change.working else { return }
    guard change.committed == nil else { return working.setVersion(change.baseVersion &+ 1) }
    let insertion = ChangeSet.RecordChange.insert(
      change.object.number, working.view, after: change.baseVersion)
    working.setVersion(insertion.version(in: committedSequence ?? 0))
  }
}
