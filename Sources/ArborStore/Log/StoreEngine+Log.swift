package import ArborFoundation
internal import LMDB

extension StoreEngine {
  /// Returns a snapshot that can read the log. A transaction can only use databases that were
  /// opened before it began. All commits of the snapshot are durable, so that a log is never ahead
  /// of its store.
  package func logSnapshot() throws(StoreError) -> StoreSnapshot {
    _ = try logDatabase()
    let snapshot = try snapshot()
    do throws(StoreError) { try waitUntilDurable() } catch {
      snapshot.close()
      throw error
    }
    return snapshot
  }

  /// Returns the log database, or `nil` if the store has never had a follower.
  func logDatabase() throws(StoreError) -> Database? {
    try storing(environment.openDatabase(StoreFormat.logDatabase, StoreFormat.logFlags))
  }

  /// Returns the positions of the store's followers.
  package func logReaders() throws(StoreError) -> LogReaders {
    try read { (reader) throws(StoreError) in try LogReaders.read(reader, databases.arbor) }
  }

  /// Records that a follower has all commits up to a sequence number, and removes the commits that
  /// all followers have. The store starts keeping commits with the first follower.
  ///
  /// - Parameter sequence: The sequence number, or `nil` for a follower that starts with the newest
  ///   commit.
  /// - Returns: The sequence number that was recorded.
  @discardableResult
  package func noteLogReader(
    _ id: UUID, has sequence: UInt64?
  ) throws(StoreError) -> UInt64 {
    var noted: UInt64 = 0
    try runTransaction { (transaction, header) throws(StoreError) in
      var readers = try LogReaders.read(transaction.reader, databases.arbor)
      noted = sequence ?? header.sequence
      readers.sequences[id] = noted
      try storing(StoreLog.set(readers, &header, databases.arbor, transaction))
    }
    return noted
  }

  /// Stops keeping commits for a follower.
  package func removeLogReader(_ id: UUID) throws(StoreError) {
    try runTransaction { (transaction, header) throws(StoreError) in
      var readers = try LogReaders.read(transaction.reader, databases.arbor)
      guard readers.sequences.removeValue(forKey: id) != nil else { return }
      try storing(StoreLog.set(readers, &header, databases.arbor, transaction))
    }
  }
}

extension StoreSnapshot {
  /// Calls `body` with the commits after a sequence number in the store's log, oldest first. The
  /// snapshot must come from ``StoreEngine/logSnapshot()``.
  ///
  /// - Parameter body: Called with each commit's sequence number and bytes, which are valid until
  ///   it returns. Returns whether to continue.
  /// - Returns: Whether no commit is missing, up to the snapshot's sequence number or to the commit
  ///   at which `body` ended the iteration.
  package func forEachLogged<Failure: Error>(
    after sequence: UInt64, _ body: (UInt64, UnsafeRawBufferPointer) throws(Failure) -> Bool
  ) throws -> Bool {
    guard sequence < self.sequence else { return sequence == self.sequence }
    guard let log = try store.logDatabase() else { return false }
    return try StoreLog.forEach(after: sequence, upTo: self.sequence, in: log, try reader, body)
  }
}
