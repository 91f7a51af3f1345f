internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Starts sharing a log: from now on, every commit is appended to it before it takes effect, and
  /// commits of other stores are applied here.
  ///
  /// - Parameter takesOver: Whether to apply the log's commits immediately.
  /// - Throws: `log` if the store and the log have diverged.
  package func share(through log: any SharedLog, takesOver: Bool = true) throws(StoreError) {
    try checkPosition()
    sharing.withLock { $0 = log }
    guard takesOver else { return }
    do throws(StoreError) { try takeOverNews() } catch {
      sharing.withLock { $0 = nil }
      throw error
    }
  }

  /// Runs `body` and restores the shared log, or its absence, afterwards.
  package func keepingLog<R>(_ body: (StoreEngine) throws -> R) rethrows -> R {
    let before = sharedLog
    defer { sharing.withLock { $0 = before } }
    return try body(self)
  }

  /// Stops appending commits to a log.
  package func endSharing() { sharing.withLock { $0 = nil } }

  /// Applies all commits that other stores have appended to the log.
  ///
  /// - Returns: The store's newest sequence number.
  @discardableResult
  package func takeOverNews() throws(StoreError) -> UInt64 {
    while let log = sharedLog {
      let groups = try log.groups(after: lastSequence)
      if groups.isEmpty { break }
      log.noteTakenOver(try takeOver(groups))
    }
    return lastSequence
  }

  var sharedLog: (any SharedLog)? { sharing.withLock { $0 } }

  /// Applies the groups that the store does not have yet and returns their number. Several threads
  /// may have read the same groups.
  @discardableResult
  func takeOver(_ groups: [LoggedGroup]) throws(StoreError) -> Int {
    let workspace = try CommitWorkspace(self)
    var count = 0
    try runRedoable(inFollower: true) { (transaction, header) throws(StoreError) -> Redo in
      let newest = header.sequence
      let newer = groups.filter { $0.last > newest }
      count = newer.count
      if !newer.isEmpty { try takeOver(newer, workspace, &header, transaction) }
      return .sharedLog
    }
    return count
  }

  private func takeOver(
    _ groups: [LoggedGroup], _ workspace: CommitWorkspace, _ header: inout HeaderRecord,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    var position = try sharedPosition(transaction.reader, header)
    var commits: [LoggedCommit] = []
    for group in groups {
      guard group.first == position.sequence + 1, group.before == position.chain else {
        throw position.misfit(group)
      }
      commits += try decode(group)
      position = position.after(group)
    }
    try replay(commits, workspace, &header, transaction)
    try writePosition(position, transaction)
  }

  private func decode(_ group: LoggedGroup) throws(StoreError) -> [LoggedCommit] {
    var commits: [LoggedCommit] = []
    for (index, bytes) in group.commits.enumerated() {
      let sequence = group.first + UInt64(index)
      let commit = bytes.withUnsafeBytes {
        LoggedCommitCodec.decode($0, sequence: sequence, schema)
      }
      guard let commit else {
        throw .corrupted(
          what: "The log's commit \(sequence) is damaged or belongs to another model.")
      }
      commits.append(commit)
    }
    return commits
  }

  // MARK: The position

  /// Throws if the store has diverged from the log. Closes its snapshot before returning, because
  /// applying commits may grow the map.
  private func checkPosition() throws(StoreError) {
    _ = try read { (reader) throws(StoreError) in
      try sharedPosition(reader, StoreHeader.read(reader, path: path))
    }
  }

  /// Returns the position of the store in the log that it shares, or `nil` if it shares none.
  package func position() throws(StoreError) -> SharedPosition? { try read(storedPosition) }

  /// Records the position of the store in a log that it is going to share.
  ///
  /// - Parameter sequence: The sequence number that the next commit follows, if greater than the
  ///   newest one. The history records that anything may have changed in between.
  package func setPosition(
    _ position: SharedPosition, raising sequence: UInt64 = 0
  ) throws(StoreError) {
    try runTransaction { (transaction, header) throws(StoreError) in
      try raise(&header, to: sequence, transaction)
      try writePosition(position, transaction)
    }
  }

  /// Raises the number of the newest commit, if it is smaller. The history records that anything may
  /// have changed. If commits are kept for followers, these are missing, so that followers continue
  /// with a snapshot.
  package func raiseSequence(to sequence: UInt64) throws(StoreError) {
    try runTransaction { (transaction, header) throws(StoreError) in
      try raise(&header, to: sequence, transaction)
    }
  }

  private func raise(
    _ header: inout HeaderRecord, to sequence: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    while header.sequence < sequence {
      try header.checkHasNext()
      header.sequence += 1
      let entry = CommitHistory.everything.encoded(
        sequence: header.sequence, date: Date(), schema)
      try storing(CommitHistory.write(entry, behind: &header, databases.history, transaction))
    }
  }

  /// Returns the log position in a transaction. For a store that never shared a log, starts a new
  /// hash chain.
  func sharedPosition(
    _ reader: TransactionReader, _ header: HeaderRecord
  ) throws(StoreError) -> SharedPosition {
    guard let position = try storedPosition(reader) else {
      return SharedPosition(
        sequence: header.sequence, generation: header.modelGeneration,
        chain: CommitChain(store: id, sequence: header.sequence))
    }
    guard position.sequence == header.sequence else {
      throw .log(SharedPosition.ownCommits(behind: position.sequence))
    }
    guard position.generation == header.modelGeneration else {
      throw .log(
        ArborError(
          .forked,
          "The store was migrated to another model without its log. Move the store's file away, "
            + "then reopen the store to rebuild it from the log."))
    }
    return position
  }

  func storedPosition(_ reader: TransactionReader) throws(StoreError) -> SharedPosition? {
    let key = StoreFormat.sharedKey
    guard let bytes = try reader.entryIfPresent(key, in: databases.arbor) else { return nil }
    guard let position = SharedPosition(bytes) else {
      throw .corrupted(what: "The entry \"\(key)\" is damaged.")
    }
    return position
  }

  func writePosition(
    _ position: SharedPosition, _ transaction: borrowing WriteTransaction
  )
    throws(StoreError)
  {
    try StoreCreation.put(StoreFormat.sharedKey, position.encoded(), databases.arbor, transaction)
  }
}

extension StoreSnapshot {
  /// Returns the position of the store in the log that it shares, or `nil` if it shares none.
  package func position() throws(StoreError) -> SharedPosition? {
    try store.storedPosition(reader)
  }
}
