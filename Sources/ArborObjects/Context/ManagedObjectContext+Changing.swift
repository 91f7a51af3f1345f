internal import ArborModel
internal import ArborStore
internal import ArborWork

extension ManagedObjectContext {
  /// Forgets all uncommitted changes: inserted objects are gone, changed and deleted ones are as
  /// they were last committed or fetched.
  ///
  /// - Precondition: No commit is under way.
  public func rollback() {
    precondition(
      !work.isInSavepoint,
      "rollback() was called during a commit or a seed; throw an error instead.")
    work.rollback()
  }

  /// Forgets all objects and uncommitted changes. Objects that somebody holds keep their values and
  /// belong to no context any more.
  public func reset() {
    precondition(
      !work.isInSavepoint,
      "reset() was called during a commit or a seed; throw an error instead.")
    blobs.forgetRetired()
    work.reset()
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
    work.memberships.removeAll()
    defer { work.settleListeners() }
    do throws(ArborError) {
      try takeInKnownCommits()
      work.forgetLost(of: object.number)
      guard object.owner === self else { return }
      guard let change = object.change else {
        work.noteReplaced(object)
        return object.becomeFault()
      }
      guard change.kind == .updated else { return }
      work.noteReplaced(object)
      if mergeChanges {
        try refreshChanged(change)
      } else {
        work.takeBack(change)
        // What is read of the object from here on may be what others have made of it.
        work.undo?.seal()
        work.yield(object, to: change.concurrent == .deleted ? .deleted : .changed)
      }
    } catch {
      note(error)
    }
  }

  private func refreshChanged(_ change: PendingObject) throws(ArborError) {
    let record = try peek { snapshot throws(StoreError) in
      try snapshot.record(change.live.number, allocator: work.allocator)
    }
    guard let record else {
      // By what was changed here it lives on.
      return work.withMemberships(of: change.live) { change.concurrent = .deleted }
    }
    work.undo?.seal()
    ChangeMerger(work).rebase(change, onto: record, work.allocator.slab, .objectWins)
    work.mendLinks()
  }

  /// Runs `body` on one view of the store: all fetches and reads inside see the same commits,
  /// whatever others commit meanwhile.
  ///
  /// The view keeps old pages of the file alive; keep it short.
  ///
  /// - Throws: What `body` throws, or ``ArborError`` where the store gives no view.
  public func withSnapshot<R>(_ body: () throws -> R) throws -> R {
    try beginOperation()
    guard work.pinned == nil else { return try body() }
    try onSnapshot { _ in }
    return try work.pinning(store.file.reporting(store.file.snapshot()), body)
  }
}
