internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Makes commits of another copy of the store again, in one transaction.
  ///
  /// - Parameters:
  ///   - commits: The ones that follow the store's newest, in their order.
  ///   - counters: What the other copy's counters were at some time: numbers below are not given
  ///     out here. Names of counters that the store does not have are passed over.
  ///   - position: Where in the log that leads, for callers that go on from there; see
  ///     ``followedPosition()``.
  /// - Throws: `corrupted` where a commit does not follow, is of another model, or does not fit
  ///   what the store holds, so that the copies have gone different ways; nothing has been written
  ///   then.
  package func makeAgain(
    _ commits: [LoggedCommit], counters: [String: UInt64] = [:], position: [UInt8]? = nil
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    guard !commits.isEmpty || !counters.isEmpty || position != nil else { return }
    // Keys of what lies at the ends of databases are learnt in each transaction anew.
    let workspace = try CommitWorkspace(self)
    try runTransaction(repeats: true) { (transaction, header) throws(StoreError) in
      try makeAgain(commits, workspace, &header, transaction)
      try raise(counters, transaction)
      guard let position else { return }
      try StoreCreation.put(StoreFormat.followsKey, position, databases.arbor, transaction)
    }
  }

  /// Makes commits again in a transaction that has nothing else in it yet.
  func makeAgain(
    _ commits: [LoggedCommit], _ workspace: CommitWorkspace, _ header: inout HeaderRecord,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    workspace.begin(transaction.id)
    var greatest = GreatestNumbers()
    for (index, commit) in commits.enumerated() {
      greatest.note(commit.set)
      try makeAgain(commit, workspace, &header, hasWritten: index > 0, transaction)
    }
    try raiseCounters(above: greatest, transaction)
  }

  /// - Parameter hasWritten: Whether the transaction has other commits in it already, which no
  ///   snapshot shows.
  private func makeAgain(
    _ commit: LoggedCommit, _ workspace: CommitWorkspace, _ header: inout HeaderRecord,
    hasWritten: Bool, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try check(commit, follows: header)
    var writer = CommitWriter(
      store: self, workspace: workspace, header: header, hasWritten: hasWritten)
    do throws(StoreError) {
      _ = try writer.writeChangeSet(commit.set, repeating: commit.history, transaction)
    } catch {
      throw Self.misfit(error, commit.sequence)
    }
    header = writer.header
  }

  /// What the last commits that were made again left as their position in the log; nil for a store
  /// that follows none.
  package func followedPosition() throws(StoreError) -> [UInt8]? {
    try storedEntry(StoreFormat.followsKey)
  }

  private func check(_ commit: LoggedCommit, follows header: HeaderRecord) throws(StoreError) {
    guard commit.sequence == header.sequence + 1 else {
      throw .corrupted(
        what: "The log's commit \(commit.sequence) doesn't follow the store's newest, which is "
          + "\(header.sequence).")
    }
    guard commit.generation == modelGeneration else {
      throw .corrupted(
        what: "The log's commit \(commit.sequence) has model generation \(commit.generation), but "
          + "the store has \(modelGeneration).")
    }
  }

  /// A commit that was accepted elsewhere is refused only where the copies differ.
  private static func misfit(_ error: StoreError, _ sequence: UInt64) -> StoreError {
    switch error {
    case .conflict, .missingTargets, .stillLinked, .notUnique, .invalidChange, .metadataExists:
      .corrupted(
        what: "The log's commit \(sequence) doesn't fit the store: they have diverged.")
    default: error
    }
  }

  // MARK: Counters

  /// The greatest object numbers of commits, by catalogue number of their entity.
  private struct GreatestNumbers {
    private(set) var byEntity: [UInt16: UInt64] = [:]

    mutating func note(_ set: ChangeSet) {
      for change in set.records where change.kind == .insert {
        let greatest = byEntity[change.number.entity, default: 0]
        byEntity[change.number.entity] = max(greatest, change.number.sequence)
      }
    }
  }

  /// Keeps numbers of objects that came with the log from being given out.
  private func raiseCounters(
    above greatest: GreatestNumbers, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    for (entity, number) in greatest.byEntity {
      try StoreCounter.raise(
        StoreFormat.objectCounter(entity), to: number + 1, databases.arbor, transaction)
    }
  }

  private func raise(
    _ counters: [String: UInt64], _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let present =
      schema.concreteEntities.map { StoreFormat.objectCounter($0.number) }
      + [StoreFormat.uniqueIDCounter]
    for name in present {
      guard let value = counters[name] else { continue }
      try StoreCounter.raise(name, to: value, databases.arbor, transaction)
    }
  }
}
