internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Replays commits of another copy of the store in one transaction.
  ///
  /// - Parameters:
  ///   - commits: The commits that follow the store's newest one, in order.
  ///   - counters: The values of the other copy's counters at some point, by name. This store won't
  ///     assign lower numbers. Unknown names are ignored.
  ///   - position: The position in the log after these commits. The store then skips commits that it
  ///     already has, and keeps a later position, because another process may have replayed them.
  /// - Throws: `corrupted` if a commit doesn't follow the previous one, belongs to another model,
  ///   or conflicts with the store's contents, which means that the copies have diverged. In that
  ///   case, nothing is written.
  package func replay(
    _ commits: [LoggedCommit], counters: [String: UInt64] = [:],
    position: FollowedPosition? = nil
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    guard !commits.isEmpty || !counters.isEmpty || position != nil else { return }
    // Cached last keys of databases have to be determined again in each transaction.
    let workspace = try CommitWorkspace(self)
    try runTransaction(inFollower: true) { (transaction, header) throws(StoreError) in
      let present = position == nil ? 0 : header.sequence
      let newer = commits.drop { $0.sequence <= present }
      try replay(newer, workspace, &header, transaction)
      try raise(counters, transaction)
      guard let position, header.sequence == position.sequence else { return }
      try StoreCreation.put(
        StoreFormat.followsKey, position.bytes, databases.arbor, transaction)
    }
  }

  /// Replays commits in a transaction that has not written anything yet.
  func replay(
    _ commits: some Sequence<LoggedCommit>, _ workspace: CommitWorkspace,
    _ header: inout HeaderRecord,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    workspace.begin(transaction.id)
    var greatest = GreatestNumbers()
    for (index, commit) in commits.enumerated() {
      greatest.note(commit.set)
      try replay(commit, workspace, &header, hasWritten: index > 0, transaction)
    }
    try raiseCounters(above: greatest, transaction)
  }

  /// - Parameter hasWritten: Whether the transaction already contains other commits, which are not
  ///   in any snapshot.
  private func replay(
    _ commit: LoggedCommit, _ workspace: CommitWorkspace, _ header: inout HeaderRecord,
    hasWritten: Bool, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try check(commit, follows: header)
    var writer = CommitWriter(
      store: self, workspace: workspace, header: header, hasWritten: hasWritten)
    do throws(StoreError) {
      _ = try writer.writeChangeSet(commit.set, replaying: commit.history, transaction)
    } catch {
      throw Self.misfit(error, commit.sequence)
    }
    header = writer.header
  }

  /// Returns the log position that was recorded with the last replayed commits, and the sequence
  /// number of the store's newest commit, or `nil` if the store doesn't follow a log.
  package func followedPosition() throws(StoreError) -> FollowedPosition? {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    let bytes = try snapshot.reader.entryIfPresent(StoreFormat.followsKey, in: databases.arbor)
    return bytes.map { FollowedPosition(sequence: snapshot.sequence, bytes: Array($0)) }
  }

  private func check(_ commit: LoggedCommit, follows header: HeaderRecord) throws(StoreError) {
    guard commit.sequence == header.sequence + 1 else {
      throw .corrupted(
        what: "The log's commit \(commit.sequence) doesn't follow the store's newest commit, "
          + "\(header.sequence).")
    }
    guard commit.generation == modelGeneration else {
      throw .corrupted(
        what: "The log's commit \(commit.sequence) has model generation \(commit.generation), but "
          + "the store has \(modelGeneration).")
    }
  }

  /// Converts the error of a replayed commit: a commit that was accepted elsewhere is rejected only
  /// if the copies have diverged.
  private static func misfit(_ error: StoreError, _ sequence: UInt64) -> StoreError {
    switch error {
    case .conflict, .missingTargets, .stillLinked, .miscounted, .notUnique, .invalidChange,
      .unfitValue,
      .metadataExists:
      .corrupted(
        what: "The log's commit \(sequence) doesn't fit the store, because the log and the store "
          + "have diverged.")
    default: error
    }
  }

  // MARK: Counters

  /// The greatest object number that the commits insert for each entity, keyed by the entity's
  /// catalog number.
  private struct GreatestNumbers {
    private(set) var byEntity: [UInt16: UInt64] = [:]

    mutating func note(_ set: ChangeSet) {
      for change in set.records where change.kind == .insert {
        let greatest = byEntity[change.number.entity, default: 0]
        byEntity[change.number.entity] = max(greatest, change.number.sequence)
      }
    }
  }

  /// Prevents object numbers from the log from being assigned again.
  private func raiseCounters(
    above greatest: GreatestNumbers, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    for (entity, number) in greatest.byEntity {
      try StoreCounter.raise(
        StoreFormat.objectCounter(entity), to: number + 1, databases.arbor, transaction)
    }
  }

  /// Raises counters to the given values, by name, unless they are greater. Unknown names are
  /// ignored.
  package func raiseCounters(to counters: [String: UInt64]) throws(StoreError) {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    let present = try snapshot.counters()
    guard present.contains(where: { $0.value < counters[$0.key, default: 0] }) else { return }
    try runRedoable { (transaction, _) throws(StoreError) -> Redo in
      try raise(counters, transaction)
      return sharedLog == nil ? .none : .sharedLog
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

/// The position of a store in the log that it follows.
package struct FollowedPosition: Sendable, Hashable {
  /// The sequence number of the store's newest commit at the position.
  package let sequence: UInt64
  /// The position as encoded by the log.
  package let bytes: [UInt8]

  package init(sequence: UInt64, bytes: [UInt8]) {
    self.sequence = sequence
    self.bytes = bytes
  }
}
