internal import ArborModel
internal import ArborStore

/// One commit of a context: hooks, derived attributes, validation, writing, and again where
/// concurrent commits came in between.
struct CommitRun {
  let context: ManagedObjectContext
  /// How often it has met other commits and was decided anew.
  var metCommits = 0
  private var work: Workspace { context.work }

  /// How often a commit may be decided anew after conflicts before it gives up.
  private static let maximumAttempts = 20
  /// The same where derived attributes are computed: commits that have nothing to decide take part
  /// in them, and one of all that try gets through each time.
  private static let maximumDerivations = 1000

  /// See ``ManagedObjectContext/commit(marking:metadata:)``.
  mutating func run(
    marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) {
    guard try begin() || mark != nil || !metadata.isEmpty else {
      context.undoHistory?.stack.noteCommit()
      return
    }
    let observation = context.store.instrument?.commitBegins(
      .init(contextName: context.name, author: context.author))
    context.undoHistory?.stack.beginCommit()
    let savepoint = work.beginSavepoint()
    let receipt: CommitReceipt?
    do throws(ArborError) {
      let derivation = try prepare()
      receipt = try work.withoutUndo { () throws(ArborError) in
        try write(derivation, marking: mark, metadata)
      }
      work.end(savepoint)
    } catch {
      work.restore(savepoint)
      context.blobs.forgetMoved()
      observation?.end(nil, CommitTally(conflicts: metCommits), error)
      throw error
    }
    let written = observation.map { _ in tally() }
    finish(receipt)
    context.store.longReaders?.noteCommit(of: context.store.file)
    if let written { observation?.end(receipt, written) }
  }

  /// Checks what ``run(marking:_:)`` would check; see ``ManagedObjectContext/validate()``.
  func check() throws(ArborError) {
    try begin("validate() was called during a commit or a seed, which validates by itself.")
    try context.reader.takeInKnownCommits()
    guard context.hasChanges else { return }
    let savepoint = work.beginSavepoint()
    defer { work.restore(savepoint) }
    try CommitHooks(context: context).announce()
    try context.reader.throwFailure()
    _ = try AttributeDerivation(context: context).derive()
    try RuleCheck(context: context).run(isAlone: true)
  }

  /// Begins an operation that nothing may keep from committing.
  ///
  /// - Parameter refusal: Why that is not possible during another commit.
  private func begin(_ refusal: String) throws(ArborError) {
    try context.reader.beginOperation()
    try context.reader.throwFailure()
    guard !work.isInSavepoint else { throw ArborError(.notAllowed, refusal) }
  }

  /// Takes in what has been committed so far; returns whether anything waits.
  private func begin() throws(ArborError) -> Bool {
    try begin(
      "commit() was called during a commit or a seed; let the outer one commit what changed.")
    try work.limitOperation()
    try context.reader.takeInKnownCommits()
    try work.file.reporting(work.checkLostLinks())
    return context.hasChanges
  }

  /// Calls the hooks, derives attributes and checks the rules.
  private func prepare() throws(ArborError) -> AttributeDerivation {
    try CommitHooks(context: context).announce()
    work.undo?.seal()
    work.withoutUndo {
      work.yieldChangesWithoutEffect()
      work.unlinkFromDeleted()
    }
    try context.reader.throwFailure()
    let derivation = AttributeDerivation(context: context)
    _ = try derivation.derive()
    try RuleCheck(context: context).run()
    work.undo?.seal()
    return derivation
  }

  // MARK: Writing

  private mutating func write(
    _ derivation: AttributeDerivation, marking mark: String?,
    _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) -> CommitReceipt? {
    let resolver = ConflictResolver(context: context, derivation: derivation)
    for _ in 0..<(work.schema.hasDerivations ? Self.maximumDerivations : Self.maximumAttempts) {
      work.beginWritingOrders()
      // Hooks of the validation, or concurrent commits, may have changed what values rest on.
      let basis = try derivation.derive()
      try context.blobs.moveOut()
      try context.reader.throwFailure()
      let changes = changeSet(basis, marking: mark, metadata)
      guard !changes.isEmpty else { return nil }
      do throws(StoreError) {
        try work.checkLostLinks()
        try work.checkOrders()
        // From here on it is written whatever happens to the task, and the caller hears of it.
        try work.limit.checkStoreNow()
        return try context.store.file.commit(changes)
      } catch {
        let isResolved = try work.onNewestSnapshot { () throws(ArborError) in
          try resolver.resolve(error)
        }
        guard isResolved else {
          throw RuleCheck(context: context).naming(ArborError(error, in: work.file))
        }
        metCommits += 1
        work.mendLinks()
        try context.reader.throwFailure()
      }
    }
    throw ArborError(
      .conflict,
      "Other commits of the same objects came in between \(Self.maximumAttempts) times; try again.")
  }

  private func changeSet(
    _ basis: ChangeSet.Basis?, marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) -> ChangeSet {
    var changes = work.changeSet()
    changes.basis = basis
    changes.metadata = metadata
    if let mark {
      changes.metadata.append((mark, [1]))
      changes.absentMetadata = [mark]
    }
    changes.author = context.author
    changes.contextName = context.name
    changes.blobs = context.blobs.moved(by: changes.records)
    return changes
  }

  // MARK: Afterwards

  /// What the commit has written, while the changes are still there.
  private func tally() -> CommitTally {
    var tally = CommitTally(conflicts: metCommits)
    tally.updated = work.ownersOfLinks().count
    work.pending.forEach { change in
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

  /// Makes the committed state the state of memory.
  private func finish(_ receipt: CommitReceipt?) {
    let owners = work.ownersOfLinks()
    let committed = work.finish(receipt?.sequence)
    if receipt != nil { context.hasCommitted = true }
    context.blobs.forgetMoved()
    context.derivedAnew.removeAll()
    context.undoHistory?.stack.noteCommit()
    context.blobs.release()
    if receipt != nil { work.advanceView() }
    for object in committed { object.live.didCommit() }
    for owner in owners { owner.live.didCommit() }
  }
}
