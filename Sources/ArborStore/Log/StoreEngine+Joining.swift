internal import ArborLocks
internal import ArborModel
internal import Foundation
internal import LMDB

extension StoreEngine {
  /// Begins to keep commits for a log that is going to begin with a copy of the store: whatever is
  /// committed while the copy is made and published follows it.
  package func keepCommitsForSharing() throws(StoreError) { try noteLogReader(id, has: nil) }

  /// Forgets a log that was not begun.
  package func leave() throws(StoreError) {
    try removeLogReader(id)
    try runTransaction { (transaction, _) throws(StoreError) in
      try StoreCreation.remove(StoreFormat.sharedKey, databases.arbor, transaction)
    }
  }

  /// Shares a log that begins behind a copy of the store, with what has been committed since.
  ///
  /// Nobody commits between the log's beginning and the sharing. A kill in between is made good by
  /// the next call, which finds the log begun.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - start: The position that the copy has.
  ///   - begin: Puts the commits behind the copy at the log's beginning, or finds them there: none
  ///     where none exist. It throws where the log is another one.
  /// - Throws: What `begin` throws; `log` where commits since the copy are missing. The store goes
  ///   on by itself then.
  package func join(
    _ log: any SharedLog, behind start: SharedPosition,
    _ begin: (CommitGroup?) throws(StoreError) -> Void
  ) throws(StoreError) {
    let database = try logDatabase()
    var begun: CommitGroup??
    try runTransaction { (transaction, header) throws(StoreError) in
      guard header.modelGeneration == start.generation else { throw .modelChanged }
      // The closure runs again after the map has grown; the log has begun then.
      let group: CommitGroup?
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

  /// The commits behind a position, which the store has kept, as one group.
  private func commits(
    behind start: SharedPosition, upTo last: UInt64, _ database: Database?,
    _ reader: TransactionReader
  ) throws(StoreError) -> CommitGroup? {
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
            + "history is gone. Move its file away, and reopen it to rebuild it from the log."))
    }
    return CommitGroup(
      batch: UUID(), first: start.sequence + 1, before: start.chain, commits: commits)
  }
}
