internal import ArborModel
internal import ArborStore

/// One commit of a context: hooks, derived attributes, validation and writing. Writing is repeated
/// after conflicts with concurrent commits (optimistic concurrency control).
struct CommitRun {
  let context: ManagedObjectContext
  /// The number of conflicts with other commits.
  var conflictCount = 0
  private var session: Session { context.session }

  /// The number of attempts after which a commit with repeated conflicts fails.
  private static let maximumAttempts = 20
  /// The number of attempts if there are derived attributes. In that case commits conflict even if
  /// they have no changed object in common, but one of the competing commits succeeds each time.
  private static let maximumDerivations = 1000

  /// Implements ``ManagedObjectContext/commit(marking:metadata:)``.
  mutating func run(
    marking mark: String? = nil, _ metadata: [(key: String, value: [UInt8]?)] = []
  ) throws(ArborError) {
    try begin(
      "commit() was called during a commit or a seed. Let the outer one commit the changes.")
    try session.limitOperation()
    try session.mergeKnownCommits()
    try session.engine.reporting(session.checkLostLinks())
    guard session.hasChanges || mark != nil || !metadata.isEmpty else {
      session.undo?.noteCommit()
      return
    }
    let observation = context.store.instrument?.commitBegins(
      .init(contextName: context.name, author: context.author))
    session.undo?.beginCommit()
    let savepoint = session.beginSavepoint()
    let receipt: CommitReceipt?
    do throws(ArborError) {
      let derivation = try validate()
      receipt = try session.withoutUndo { () throws(ArborError) in
        try writeResolvingConflicts(derivation, marking: mark, metadata)
      }
      session.end(savepoint)
    } catch {
      session.restore(savepoint)
      session.blobs.forgetMoved()
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
    guard session.hasChanges else { return }
    let savepoint = session.beginSavepoint()
    defer { session.restore(savepoint) }
    try CommitHooks(session: session).announce()
    try session.throwFailure()
    _ = try AttributeDerivation(session: session).derive()
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

  /// Calls the hooks, computes derived attributes and checks the rules.
  ///
  /// - Returns: The derivation, which is repeated before each attempt to write.
  private func validate() throws(ArborError) -> AttributeDerivation {
    try CommitHooks(session: session).announce()
    session.undo?.seal()
    session.withoutUndo {
      session.yieldChangesWithoutEffect()
      session.unlinkFromDeleted()
    }
    try session.throwFailure()
    let derivation = AttributeDerivation(session: session)
    _ = try derivation.derive()
    try RuleCheck(session: session).run()
    session.undo?.seal()
    return derivation
  }

  // MARK: Writing

  /// Submits the change set to the store, and submits it again after each conflict that the merge
  /// policy resolves. Returns `nil` if there is nothing to write.
  private mutating func writeResolvingConflicts(
    _ derivation: AttributeDerivation, marking mark: String?,
    _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) -> CommitReceipt? {
    let resolver = ConflictResolver(session: session, derivation: derivation)
    for _ in 0..<(session.schema.hasDerivations ? Self.maximumDerivations : Self.maximumAttempts) {
      session.beginWritingOrders()
      // Validation hooks or concurrent commits may have changed the inputs of derived attributes.
      let basis = try derivation.derive()
      try session.moveBlobsOut()
      try session.throwFailure()
      let changes = changeSet(basis, marking: mark, metadata)
      guard !changes.isEmpty else { return nil }
      do throws(StoreError) {
        try session.checkLostLinks()
        try session.checkOrders()
        // From here on the commit is written even if the task is cancelled.
        try session.limit.checkStoreNow()
        return try session.engine.commit(changes)
      } catch {
        let isResolved = try session.onNewestSnapshot { () throws(ArborError) in
          try resolver.resolve(error)
        }
        guard isResolved else {
          throw RuleCheck(session: session).naming(ArborError(error, in: session.engine))
        }
        conflictCount += 1
        session.mendLinks()
        try session.throwFailure()
      }
    }
    throw ArborError(
      .conflict,
      "Other commits changed the same objects \(conflictCount) times in a row. Try again.")
  }

  private func changeSet(
    _ basis: ChangeSet.Basis?, marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) -> ChangeSet {
    var changes = session.changeSet()
    changes.basis = basis
    changes.metadata = metadata
    if let mark {
      changes.metadata.append((mark, [1]))
      changes.absentMetadata = [mark]
    }
    changes.author = context.author
    changes.contextName = context.name
    changes.blobs = session.movedBlobs(of: changes.records)
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
    let committed = session.settleChanges(committedAt: receipt?.sequence)
    if receipt != nil { context.hasCommitted = true }
    session.blobs.forgetMoved()
    session.recomputed.removeAll()
    session.undo?.noteCommit()
    session.releaseBlobs()
    if receipt != nil { session.advanceView() }
    for object in committed { object.didCommit() }
    for owner in owners { owner.didCommit() }
  }
}
