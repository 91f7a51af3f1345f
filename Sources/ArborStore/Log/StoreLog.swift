internal import LMDB

/// The commits that a store keeps until all followers have them: its outbox.
///
/// Every process writes the entry of a commit in the commit's own transaction, so that none is
/// missing.
enum StoreLog {
  static func append(
    _ commit: [UInt8], of sequence: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    try transaction.put(database(transaction), key: sequence, value: commit)
  }

  /// Records the followers and removes the commits that all of them have.
  static func set(
    _ readers: LogReaders, _ header: inout HeaderRecord, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let least = readers.least else { return try end(&header, arbor, transaction) }
    header.keepsLog = true
    try transaction.put(arbor, key: Array(StoreFormat.logKey.utf8), value: readers.encoded())
    let log = try database(transaction)
    // A deletion invalidates cursors, so each iteration creates one.
    while let oldest = try transaction.reader.cursor(log).first()?.integerKey, oldest <= least,
      try transaction.delete(log, key: oldest)
    {}
  }

  /// Calls `body` with the commits in a range of sequence numbers, oldest first. Returns `false` if
  /// one is missing.
  ///
  /// - Parameter body: The same as that of ``StoreSnapshot/forEachLogged(after:_:)``.
  static func forEach<Failure: Error>(
    after sequence: UInt64, upTo last: UInt64, in log: Database, _ reader: TransactionReader,
    _ body: (UInt64, UnsafeRawBufferPointer) throws(Failure) -> Bool
  ) throws -> Bool {
    let cursor = try storing(reader.cursor(log))
    var expected = sequence + 1
    var entry = try storing(cursor.seek(expected))
    while let found = entry, expected <= last {
      guard found.integerKey == expected else { return false }
      guard try body(expected, found.value) else { return true }
      expected += 1
      entry = try storing(cursor.next())
    }
    return expected > last
  }

  /// Stops keeping commits and removes all of them.
  static func end(
    _ header: inout HeaderRecord, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard header.keepsLog else { return }
    header.keepsLog = false
    try transaction.delete(arbor, key: Array(StoreFormat.logKey.utf8))
    try transaction.clear(database(transaction))
  }

  /// Returns the log database, creating it if it doesn't exist.
  private static func database(
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Database {
    try transaction.createDatabase(StoreFormat.logDatabase, StoreFormat.logFlags)
  }
}
