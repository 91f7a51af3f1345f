internal import ArborModel
internal import ArborStore

/// One commit of a context: hooks, validation and writing. Writing is repeated
/// after conflicts with concurrent commits (optimistic concurrency control).
struct CommitRun {
  let context: ManagedObjectContext
  /// The number of conflicts with other commits.
  var conflictCount = 0
  private var session: Session { context.session }

  /// The number of attempts after which a commit with repeated conflicts fails.
  private static let maximumAttempts = 20

  /// Implements ``ManagedObjectContext/commit(marking:metadata:)``.
  mutating func run(
    marking mark: String? = nil, _ metadata: [(key: String, value: [UInt8]?)] = []
  ) throws(ArborError) {
    try begin(
      "commit() was called during a commit or a seed. Let the outer one commit the changes.")
    session.mergedObjects = []
    context.mergedObjects = [:]
    try session.limitOperation()
    try session.mergeKnownCommits()
    try session.engine.reporting(session.checkLostLinks())
    guard session.hasEdits || mark != nil || !metadata.isEmpty else {
      session.undo?.noteCommit()
      return
    }
    let observation = context.store.instrument?.commitBegins(
      .init(contextName: context.name, author: context.author))
    session.undo?.beginCommit()
    let savepoint = session.beginSavepoint()
    let receipt: CommitReceipt?
    do throws(ArborError) {
      try validate()
      receipt = try session.withoutUndo { () throws(ArborError) in
        try writeResolvingConflicts(marking: mark, metadata)
      }
      session.end(savepoint)
    } catch {
      session.restore(savepoint)
      session.blobs.abandonCommit()
      observation?.end(nil, CommitTally(conflicts: conflictCount), error)
      throw error
    }
    let written = observation.map { _ in tally() }
    finish(receipt)
    context.store.longReaders?.noteCommit(of: session.engine)
    if let written { observation?.end(receipt, written) }
  }

  /// Validates like ``run(marking:_:)``, without writing. See ``ManagedObjectContext/validate()``.
  func validateOnly() throws(ArborError) {
    try begin(
      "validate() was called during a commit or a seed, which already validates the changes. "
        + "Remove the call.")
    try session.mergeKnownCommits()
    try validateAndRestore()
  }

  /// Calls the hooks and checks all rules. Then restores the changes.
  func validateAndRestore() throws(ArborError) {
    guard session.hasEdits else { return }
    let savepoint = session.beginSavepoint()
    defer { session.restore(savepoint) }
    try CommitHooks(session: session).announce()
    try session.throwFailure()
    try RuleCheck(session: session).run(isAlone: true)
  }

  /// Begins an operation, unless an earlier failure blocks commits or a commit is in progress.
  ///
  /// - Parameter refusal: The message of the error to throw during another commit.
  private func begin(_ refusal: String) throws(ArborError) {
    try session.beginOperation()
    try session.throwFailure()
    guard !session.isInSavepoint else { throw ArborError(.notAllowed, refusal) }
  }

  /// Calls the hooks, resolves the conflicts that are known already and checks the rules.
  private mutating func validate() throws(ArborError) {
    try CommitHooks(session: session).announce()
    session.undo?.seal()
    try session.withoutUndo { () throws(ArborError) in
      session.yieldChangesWithoutEffect()
      session.forgetUnguarded()
      try resolveKnownConflicts()
      ConflictResolver(session: session).resolveLinksToDeleted()
    }
    try session.throwFailure()
    try RuleCheck(session: session).run()
    session.undo?.seal()
  }

  /// Resolves conflicts with commits that have been merged already, whose result the policy leaves to
  /// the commit, so that the rules are checked on what it would write.
  ///
  /// - Throws: `conflict` if the policy refuses them.
  private mutating func resolveKnownConflicts() throws(ArborError) {
    let resolver = ConflictResolver(session: session)
    let contested = session.contestedChanges()
    let linked = resolver.linkedDeletions()
    guard !contested.isEmpty || !linked.isEmpty else { return }
    let isResolved = try session.onNewestSnapshot { () throws(ArborError) in
      let changed = contested.filter {
        session.storedRecord(of: $0.object.number)?.record.version != $0.baseVersion
      }
      let conflicts = (changed + linked).map(session.conflict)
      guard !conflicts.isEmpty else { return false }
      let error = StoreError.conflict(conflicts)
      guard try resolver.resolve(error) else {
        throw RuleCheck(session: session).naming(ArborError(error, in: session.engine))
      }
      session.mendLinks()
      return true
    }
    if isResolved { conflictCount += 1 }
  }

  // MARK: Writing

  /// Submits the change set to the store, and submits it again after each conflict that the merge
  /// policy resolves. Returns `nil` if there is nothing to write.
  private mutating func writeResolvingConflicts(
    marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) -> CommitReceipt? {
    let resolver = ConflictResolver(session: session)
    for _ in 0..<Self.maximumAttempts {
      let orders = session.beginWritingOrders()
      try session.moveBlobsOut()
      try session.throwFailure()
      let changes = changeSet(orders, marking: mark, metadata)
      guard !changes.isEmpty else { return nil }
      do throws(StoreError) {
        try session.checkLostLinks()
        try session.checkOrders()
        // Once it is being written, the commit is finished even if the task is cancelled.
        try session.limit.checkStoreNow()
        return try session.engine.commit(changes, limit: session.limit)
      } catch {
        let isResolved = try session.onNewestSnapshot { () throws(ArborError) in
          guard try resolver.resolve(error) else { return false }
          session.mendLinks()
          resolver.resolveLinksToDeleted()
          try session.throwFailure()
          // Merging may have changed any object, including those that this context never touched.
          try RuleCheck(session: session).run(isRepeated: true)
          return true
        }
        guard isResolved else {
          throw RuleCheck(session: session).naming(ArborError(error, in: session.engine))
        }
        conflictCount += 1
      }
    }
    throw ArborError(
      .conflict,
      "Other commits changed the same objects \(conflictCount) times in a row. Try again.")
  }

  private func changeSet(
    _ orders: [NewOrder], marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) -> ChangeSet {
    var changes = session.changeSet(orders)
    changes.metadata = metadata
    if let mark {
      changes.metadata.append((mark, [1]))
      changes.absentMetadata = [mark]
    }
    changes.author = context.author
    changes.contextName = context.name
    changes.blobs = session.movedBlobs(of: changes.records)
    changes.blobHolder = session.blobs.hold.map { ObjectIdentifier($0) }
    return changes
  }

  // MARK: Afterwards

  /// Counts the written objects, while the pending changes still exist.
  private func tally() -> CommitTally {
    var tally = CommitTally(conflicts: conflictCount)
    tally.updated = session.ownersOfLinks().count
    session.pending.forEach { change in
      guard change.isSubmitted else { return }
      switch change.kind {
      case .inserted: tally.inserted += 1
      case .updated: tally.updated += 1
      case .deleted: tally.deleted += 1
      case .dropped: break
      }
    }
    return tally
  }

  /// Makes the pending state the committed state of the objects in memory.
  private func finish(_ receipt: CommitReceipt?) {
    let owners = session.ownersOfLinks()
    let committed = session.settleChanges(receipt)
    if receipt != nil { context.hasCommitted = true }
    context.mergedObjects = session.takeMergedObjects()
    session.blobs.endCommit()
    session.recomputed.removeAll()
    session.undo?.noteCommit()
    session.endBlobHold()
    session.releaseBlobs()
    if receipt != nil { session.advanceView() }
    for object in committed { object.didCommit() }
    for owner in owners { owner.didCommit() }
  }
}
