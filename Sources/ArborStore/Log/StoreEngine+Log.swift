package import Foundation
internal import LMDB

extension StoreEngine {
  /// A snapshot that can read the log: a transaction knows only databases that were opened before
  /// it began.
  package func logSnapshot() throws(StoreError) -> StoreSnapshot {
    _ = try logDatabase()
    return try snapshot()
  }

  /// nil where nobody has followed the store yet.
  func logDatabase() throws(StoreError) -> Database? {
    try storing(environment.openDatabase(StoreFormat.logDatabase, StoreFormat.logFlags))
  }

  /// How far those who follow have the commits; empty where nobody follows.
  package func logReaders() throws(StoreError) -> LogReaders {
    try read { (reader) throws(StoreError) in try LogReaders.read(reader, databases.arbor) }
  }

  /// Records that somebody who follows has all commits up to a sequence, and lets those go that
  /// everybody has. With the first one the store begins to keep commits.
  ///
  /// - Parameter sequence: nil for somebody who begins with the newest commit.
  /// - Returns: The sequence that was recorded.
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

  /// Keeps no commits for somebody any more.
  package func removeLogReader(_ id: UUID) throws(StoreError) {
    try runTransaction { (transaction, header) throws(StoreError) in
      var readers = try LogReaders.read(transaction.reader, databases.arbor)
      guard readers.sequences.removeValue(forKey: id) != nil else { return }
      try storing(StoreLog.set(readers, &header, databases.arbor, transaction))
    }
  }
}

extension StoreSnapshot {
  /// Goes through the commits after a sequence that are in the store's log, oldest first. The
  /// snapshot is one of ``StoreEngine/logSnapshot()``.
  ///
  /// - Parameter body: Gets each commit's sequence and bytes, which are valid until it returns;
  ///   returns whether to go on.
  /// - Returns: Whether every commit up to the snapshot's sequence is there.
  package func forEachLogged<Failure: Error>(
    after sequence: UInt64, _ body: (UInt64, UnsafeRawBufferPointer) throws(Failure) -> Bool
  ) throws -> Bool {
    guard sequence < self.sequence else { return sequence == self.sequence }
    guard let log = try store.logDatabase() else { return false }
    return try StoreLog.forEach(after: sequence, upTo: self.sequence, in: log, try reader, body)
  }
}
