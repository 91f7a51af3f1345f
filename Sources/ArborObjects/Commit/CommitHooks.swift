internal import ArborModel
internal import ArborStore

/// The hooks that a commit calls before it validates.
struct CommitHooks {
  let session: Session
  /// The maximum number of rounds in which `willCommit` hooks may change objects before the commit
  /// fails.
  private static let maximumRounds = 100

  /// Calls `willCommit` for every changed object, and again for those that changed since.
  func announce() throws(ArborError) {
    var announcedOwners: Set<ObjectNumber> = []
    var calls = HookCalls(session)
    // An earlier failed commit may have announced them, too.
    session.pending.forEach { $0.announcedMutations = .max }
    for round in 0..<Self.maximumRounds {
      var isQuiet = true
      // Objects that a hook inserts are announced in the next round, so that the limit also ends a
      // chain of insertions.
      try session.pending.forEach(includesAdditions: false) { change throws(ArborError) in
        guard !change.isQuiet, change.announcedMutations != change.mutations else { return }
        try calls.count()
        isQuiet = false
        change.announcedMutations = change.mutations
        if round == 0 { change.object.willCommit() } else { announceAgain(change) }
      }
      for owner in session.ownersOfLinks() where announcedOwners.insert(owner.number).inserted {
        try calls.count()
        isQuiet = false
        owner.willCommit()
      }
      if isQuiet { return }
    }
    throw ArborError(
      .notAllowed,
      "willCommit still changed objects after \(Self.maximumRounds) rounds. Set a value only if it "
        + "differs from the current one, and don't insert objects whose own hook inserts more.")
  }

  /// Calls `willCommit` for an object again. The object counts as settled if the hook doesn't
  /// change any value.
  private func announceAgain(_ change: PendingObject) {
    let object = change.object
    let before = RecordBuffer(copying: object.currentRecord.bytes, into: session.allocator)
    object.willCommit()
    let fields = withExtendedLifetime(before) {
      object.currentRecord.editedFields(since: before.view, in: object.binding.entity.layout)
    }
    if fields == 0 { change.announcedMutations = change.mutations }
  }
}

/// Counts the hooks that a commit calls. Hooks may insert objects that have hooks as well, so the
/// count, the deadline and the cancellation of the task are checked before each call.
struct HookCalls {
  private let session: Session
  private let maximum: Int
  private var made = 0

  /// - Parameter session: The session, with the changes that the program has made.
  init(_ session: Session) {
    self.session = session
    maximum = 1_000_000 + 100 * session.pending.count
  }

  /// Counts a call that is about to be made.
  ///
  /// - Throws: ``ArborError`` `notAllowed`, `cancelled` or `deadlineExceeded`.
  mutating func count() throws(ArborError) {
    made += 1
    guard made <= maximum else {
      throw ArborError(
        .notAllowed,
        "The commit called \(maximum) hooks. Don't insert objects in a hook that they have, too.")
    }
    if !session.limit.admit() { try session.limitOperation() }
  }
}
