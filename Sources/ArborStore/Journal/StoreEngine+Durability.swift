internal import ArborFoundation
internal import LMDB

/// The way in which a store's commits reach the medium.
package enum DurabilityOrder: String, Sendable, Hashable {
  /// LMDB syncs each commit.
  case synced
  /// The entry of the journal is written while LMDB commits.
  case overlapping
  /// The entry of the journal is written and synced before LMDB commits.
  case inOrder
  /// The commits are in a shared log.
  case sharedLog
}

extension StoreEngine {
  /// Waits until every commit that can be read now is durable. In a journaled store, commits can be
  /// read while their entries are still being written, or before a checkpoint replaces an entry. If the
  /// process that should make the checkpoint has died, this one makes it, unless it only reads.
  ///
  /// - Throws: `inputOutput` if a transaction is not on the medium, the store is opened read-only, and
  ///   no other process makes a checkpoint in time; errors of making one; `journal` if the process that
  ///   writes an entry is stopped.
  package func waitUntilDurable() throws(StoreError) {
    guard let path, let file = try JournalFile.existing(of: path, forReading: true) else { return }
    let patience = journal.limits.patience
    let end = ContinuousClock.now + .seconds(patience)
    while true {
      try file.lockFlight(exclusively: false, patience: patience)
      file.unlockFlight()
      guard file.isInPlace, try file.newestHeader()?.isIncomplete == true else { return }
      if !isReadOnly { return try journal.checkpointNow(self) }
      guard ContinuousClock.now < end else { throw .failed("write", file.path, errno: EIO) }
      usleep(1_000)
    }
  }

  /// Returns the order that the last process to make a checkpoint uses.
  package func durabilityOrder() throws(StoreError) -> DurabilityOrder {
    guard let path, try isJournaled(),
      let header = try JournalFile.existing(of: path, forReading: true)?.newestHeader()
    else { return .synced }
    if header.isShared { return .sharedLog }
    return header.overlaps ? .overlapping : .inOrder
  }
}
