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
      guard change.concurrent == .changed || change.isOutdated(by: stored.record) else { continue }
      ChangeMerger(self).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
    mendLinks()
  }

  /// Returns the changes of objects that commits which have been merged have changed, too, if the
  /// commit has to detect or resolve that.
  func contestedChanges() -> [PendingObject] {
    pending.compactMap { change in
      let isDeletion = change.kind == .deleted && change.concurrent != .none
      return isDeletion || change.isContested ? change : nil
    }
  }

  /// Returns the conflict of a change with the stored record.
  func conflict(of change: PendingObject) -> CommitConflict {
    CommitConflict(
      number: change.object.number, baseVersion: change.baseVersion,
      currentRecord: storedRecord(of: change.object.number).map { Array($0.record.bytes) })
  }

  /// Removes objects that were never committed and whose deletion is pending, because members
  /// forbade it, if there are no such members anymore. Not recorded for undo.
  func forgetUnguarded() {
    guard pending.deletedCount > 0 else { return }
    for change in pending.all where change.kind == .deleted && change.committed == nil {
      recordMerge(of: change.object)
      DeletePropagation(self).forgetIfUnguarded(change.object)
    }
  }

  /// Returns the change set of all pending changes. Its records are borrowed.
  ///
  /// - Parameter orders: The lists to write.
  func changeSet(_ orders: [NewOrder]) -> ChangeSet {
    var changes = ChangeSet()
    changes.recomputed = Array(recomputed)
    changes.records.reserveCapacity(pending.count)
    func append(_ edit: PendingMembers, _ change: ChangeSet.LinkEdit.Edit) {
      changes.links.append(.init(owner: edit.owner, relationship: edit.relationship, change))
    }
    var reordered: [ObjectNumber: UInt64] = [:]
    for (edit, members) in orders {
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
    case .deleted:
      // An object that was never committed isn't in the store.
      return change.committed == nil ? nil : .delete(object.number, from: change.baseVersion)
    case .dropped: return nil
    case .updated:
      guard let committed = change.committed else { return nil }
      var fields = committed.editedFields(
        since: object.currentRecord, in: object.binding.entity.layout)
      fields |= reordered
      guard fields != 0 || !change.hasNoEffect else { return nil }
      return .update(
        object.number, from: change.baseVersion, object.currentRecord, changedProperties: fields)
    }
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
  /// - Parameter receipt: The receipt of the commit, or `nil` if nothing was written.
  /// - Returns: The objects that had pending changes.
  func settleChanges(_ receipt: CommitReceipt?) -> [ManagedObject] {
    let committedSequence = receipt?.sequence
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
    restoredLinks = []
    links.removeAll()
    registry.noteSettled(committed.count)
    if let receipt { takeDerivedValues(receipt, committed) }
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
