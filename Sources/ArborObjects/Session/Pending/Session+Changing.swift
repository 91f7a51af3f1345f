internal import ArborModel
internal import ArborStore

extension Session {
  /// Prepares an object's working record for writing. Returns `nil` if the record cannot be read or
  /// the object is deleted. Changes of deleted objects have no effect.
  @inline(never)
  func beginWriting(_ object: ManagedObject) -> PendingObject? {
    guard load(object), object.change?.kind != .deleted else {
      // A lost change is an error, even though a lost object isn't.
      if object.isMissing { note(.query(.missing(object.objectID))) }
      return nil
    }
    previews?.withdraw(object)
    if let change = object.change, change.isRead(in: epoch) {
      change.begin(epoch, in: pending)
      return change
    }
    let record = object.currentRecord
    recordEdit(of: object)
    let change: PendingObject
    if let present = object.change {
      change = present
    } else {
      change = PendingObject(object, .updated, epoch: epoch)
      change.committed = record
      change.committedSlab = object.slab
      pending.add(change)
      holdBlobs(of: object, record)
    }
    let working = RecordBuffer(copying: record.bytes, into: allocator)
    change.working = working
    change.begin(epoch, in: pending)
    object.hold(working.view, working.slab)
    return change
  }

  func rollback() {
    links.forEachDeviation { list in
      notifyListeners { $0.noteReplaced(linksOf: list.owner, list.relationship) }
    }
    links.removeAll()
    lostLinks = []
    restoredLinks = []
    for change in pending.all {
      let object = change.object
      noteReplaced(object)
      object.change = nil
      guard let committed = change.committed else {
        takeAway(object)
        continue
      }
      object.hold(committed, change.committedSlab)
      yield(object, to: change.concurrent)
    }
    pending.removeAll()
    endBlobHold()
    endConcurrentLinks()
    undo?.rollBack()
    failure?.blocksCommits = false
    if failure?.isReported == true { failure = nil }
    settleListeners()
  }

  func reset() {
    pending.removeAll()
    links.removeAll()
    lostLinks = []
    restoredLinks = []
    registry.forgetAll()
    memberships.removeAll()
    undo?.removeAll()
    endBlobHold()
    failure = nil
    notifyListeners { $0.noteAnything() }
    ownSequences = []
    readNewer = []
    outdated = []
    sequence = pinned?.sequence ?? engine.lastSequence
    settleListeners()
  }

  /// Records that pending links were removed. Results read with them may have changed.
  func endConcurrentLinks() {
    guard hasConcurrentLinks else { return }
    hasConcurrentLinks = false
    notifyListeners { $0.noteAnything() }
  }

  /// Updates an object without net change to its state after concurrent commits.
  func yield(_ object: ManagedObject, to concurrent: PendingObject.Concurrent) {
    switch concurrent {
    case .none: break
    case .changed:
      noteReplaced(object)
      object.becomeFault()
    case .deleted:
      takeAway(object, .lost)
      links.forget(where: { $0 == object.number }, telling: { _, _ in })
    }
  }
}
