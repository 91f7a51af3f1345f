internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Starts keeping commits for a log that will begin with a copy of the store. Commits made while
  /// the copy is created and published follow it in the log.
  package func keepCommitsForSharing() throws(StoreError) { try noteLogReader(id, has: nil) }

  /// Stops keeping commits for a log that was never started, and removes the store's position in
  /// it.
  package func leave() throws(StoreError) {
    try removeLogReader(id)
    try runTransaction { (transaction, _) throws(StoreError) in
      try StoreCreation.remove(StoreFormat.sharedKey, databases.arbor, transaction)
    }
  }

  /// Starts sharing a log that begins with a copy of the store, followed by the commits made since
  /// then.
  ///
  /// No other commit can happen between starting the log and sharing it. If the process is killed
  /// in between, the next call finds that the log has been started, and completes the operation.
  ///
  /// - Parameters:
  ///   - log: The log to share.
  ///   - start: The position of the copy in the log.
  ///   - begin: A closure that writes the commits since the copy to the start of the log, or finds
  ///     them there. Its argument is `nil` if there are none. Throws if the log is a different one.
  /// - Throws: Errors of `begin`; `log` if commits since the copy are missing. The store then
  ///   continues without a log.
  package func join(
    _ log: any SharedLog, behind start: SharedPosition,
    _ begin: (LoggedGroup?) throws(StoreError) -> Void
  ) throws(StoreError) {
    let database = try logDatabase()
    var begun: LoggedGroup??
    try runTransaction { (transaction, header) throws(StoreError) in
      guard header.modelGeneration == start.generation else { throw .modelChanged }
      // The closure runs again after the map has grown. The log has already begun in that case.
      let group: LoggedGroup?
      if let begun {
        group = begun
      } else {
        group = try commits(behind: start, upTo: header.sequence, database, transaction.reader)
        try begin(group)
        begun = .some(group)
      }
      var readers = try LogReaders.read(transaction.reader, databases.arbor)
      readers.sequences[id] = nil
      try storing(StoreLog.set(readers, &header, databases.arbor, transaction))
      try writePosition(group.map(start.after) ?? start, transaction)
      sharing.withLock { $0 = log }
    }
  }

  /// Returns the kept commits after a position as one group, or `nil` if there are none.
  private func commits(
    behind start: SharedPosition, upTo last: UInt64, _ database: Database?,
    _ reader: TransactionReader
  ) throws(StoreError) -> LoggedGroup? {
    guard start.sequence < last else { return nil }
    var commits: [[UInt8]] = []
    var isWhole = false
    if let database {
      do {
        isWhole = try StoreLog.forEach(
          after: start.sequence, upTo: last, in: database, reader
        ) { (_, bytes) throws(StoreError) in
          commits.append(Array(bytes))
          return true
        }
      } catch { throw error as? StoreError ?? .closed }
    }
    guard isWhole else {
      throw .log(
        ArborError(
          .forked,
          "The store has commits after commit \(start.sequence) that are not in the log, and their "
            + "history is gone. Move the store's file away, then reopen the store to rebuild it "
            + "from the log."))
    }
    return LoggedGroup(
      batch: UUID(), first: start.sequence + 1, before: start.chain, commits: commits)
  }
}
