internal import ArborModel
internal import ArborStore

extension ManagedObjectContext {
  /// Gives an object a working record that may be written to now; nil where its record cannot be
  /// read, or where it is deleted: changes of deleted objects are idle.
  @inline(never)
  func beginWriting(_ object: ManagedObject) -> PendingObject? {
    guard load(object), object.change?.kind != .deleted else { return nil }
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
    }
    let working = RecordBuffer(copying: record.bytes, into: allocator)
    change.working = working
    change.begin(epoch, in: pending)
    object.hold(working.view, working.slab)
    return change
  }

  /// Runs `body` with one snapshot for all reads; without one where the store gives none.
  func withPinnedSnapshot(_ body: () -> Void) {
    guard pinned == nil else { return body() }
    do throws(StoreError) { pinned = try store.file.snapshot() } catch {
      note(ArborError(error, in: store.file))
    }
    defer {
      pinned?.close()
      pinned = nil
    }
    body()
  }

  /// Forgets all uncommitted changes: inserted objects are gone, changed and deleted ones are as
  /// they were last committed or fetched.
  ///
  /// - Precondition: No commit is under way.
  public func rollback() {
    precondition(
      !isInSavepoint, "rollback() was called during a commit or a seed; throw an error instead.")
    links.forEachDeviation { edit in
      tellListeners { $0.noteReplaced(linksOf: edit.owner, edit.relation) }
    }
    links.removeAll()
    lostLinks = []
    for change in pending.all {
      let object = change.object
      noteReplaced(object)
      object.change = nil
      guard let committed = change.committed else {
        takeAway(object)
        continue
      }
      object.hold(committed, change.committedSlab)
      yield(object, to: change.foreign)
    }
    pending.removeAll()
    endForeignLinks()
    undoHistory?.rollBack()
    failure?.blocksCommits = false
    if failure?.isReported == true { failure = nil }
    observation?.settle()
  }

  /// Forgets all objects and uncommitted changes. Objects that somebody holds keep their values and
  /// belong to no context any more.
  public func reset() {
    precondition(
      !isInSavepoint, "reset() was called during a commit or a seed; throw an error instead.")
    pending.removeAll()
    links.removeAll()
    lostLinks = []
    registry.forgetAll()
    memberships.removeAll()
    retiredBlobs = [:]
    undoHistory?.removeAll()
    failure = nil
    tellListeners { $0.noteAnything() }
    ownSequences = []
    readAhead = []
    sequence = store.file.lastSequence
  }

  /// Lets an object take its values from the store anew at the next read.
  ///
  /// New links of the object that have gone with what others have deleted are no conflict any more.
  ///
  /// - Parameters:
  ///   - object: An object of this context; nothing happens for one that waits for its first commit
  ///     or for its deletion. One that others have deleted is gone, unless its changes are kept.
  ///   - mergeChanges: Whether the object's own uncommitted changes are kept on top of the store's
  ///     values, or forgotten.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool = true) {
    guard object.owner === self else { return }
    memberships.removeAll()
    defer { observation?.settle() }
    do throws(ArborError) {
      try takeInKnownCommits()
      forgetLost(of: object.number)
      guard object.owner === self else { return }
      guard let change = object.change else {
        noteReplaced(object)
        return object.becomeFault()
      }
      guard change.kind == .updated else { return }
      noteReplaced(object)
      if mergeChanges {
        try refreshChanged(change)
      } else {
        takeBack(change)
        // What is read of the object from here on may be what others have made of it.
        undoHistory?.seal()
        yield(object, to: change.foreign == .deleted ? .deleted : .changed)
      }
    } catch {
      note(error)
    }
  }

  private func refreshChanged(_ change: PendingObject) throws(ArborError) {
    let record = try peek { snapshot throws(StoreError) in
      try snapshot.record(change.object.number, allocator: allocator)
    }
    guard let record else {
      // By what was changed here it lives on.
      return withMemberships(of: change.object) { change.foreign = .deleted }
    }
    undoHistory?.seal()
    ChangeMerger(context: self).rebase(change, onto: record, allocator.slab, .objectWins)
    mendLinks()
  }

  /// Makes a changed object what it was before its changes, links included.
  func takeBack(_ change: PendingObject) {
    guard let committed = change.committed else { return }
    let object = change.object
    let keeper = InverseKeeper(context: self)
    for relation in object.binding.relations {
      guard let field = relation.field else { continue }
      let target = committed.reference(field).flatMap { relation.leads(to: $0) ? fault($0) : nil }
      keeper.set(object, relation, to: target)
    }
    if change.epoch == epoch || change.isRead(in: epoch) {
      // Undo goes back to what the object was before its first change in the savepoint.
      recordMerge(of: object)
    } else {
      recordEdit(of: object)
    }
    withMemberships(of: object) {
      pending.drop(change)
      object.hold(committed, change.committedSlab)
    }
  }
}

extension ManagedObjectContext {
  /// Runs `body` on one view of the store: all fetches and reads inside see the same commits,
  /// whatever others commit meanwhile.
  ///
  /// The view keeps old pages of the file alive; keep it short.
  ///
  /// - Throws: What `body` throws, or ``ArborError`` where the store gives no view.
  public func withSnapshot<R>(_ body: () throws -> R) throws -> R {
    try beginOperation()
    guard pinned == nil else { return try body() }
    try onSnapshot { _ in }
    do throws(StoreError) { pinned = try store.file.snapshot() } catch {
      throw ArborError(error, in: store.file)
    }
    defer {
      pinned?.close()
      pinned = nil
    }
    return try body()
  }
}
