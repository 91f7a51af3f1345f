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
    // An earlier failed commit may have announced them, too.
    session.pending.forEach { $0.announcedMutations = .max }
    for round in 0..<Self.maximumRounds {
      var isQuiet = true
      session.pending.forEach { change in
        guard !change.isQuiet, change.announcedMutations != change.mutations else { return }
        isQuiet = false
        change.announcedMutations = change.mutations
        if round == 0 { change.object.willCommit() } else { announceAgain(change) }
      }
      for owner in session.ownersOfLinks() where announcedOwners.insert(owner.number).inserted {
        isQuiet = false
        owner.willCommit()
      }
      if isQuiet { return }
    }
    throw ArborError(
      .notAllowed,
      "willCommit still changed objects after \(Self.maximumRounds) rounds. Set a value only if it "
        + "differs from the current one.")
  }

  /// Calls `willCommit` for an object again. The object counts as settled if the hook doesn't
  /// change any value.
  private func announceAgain(_ change: PendingObject) {
    let object = change.object
    let before = RecordBuffer(copying: object.currentRecord.bytes, into: session.allocator)
    object.willCommit()
    let fields = withExtendedLifetime(before) {
      object.currentRecord.changedFields(since: before.view, in: object.binding.entity.layout)
    }
    if fields == 0 { change.announcedMutations = change.mutations }
  }
}
