internal import LMDB

/// The commits that a store keeps until everybody who follows it has them: its outbox.
///
/// Each commit writes its entry in its own transaction, whichever process makes it, so that none is
/// ever missing; a program of an earlier minor version leaves a gap, which is found as one.
enum StoreLog {
  static func append(
    _ commit: [UInt8], of sequence: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    try transaction.put(database(transaction), key: sequence, value: commit)
  }

  /// Records who follows, and lets go what all of them have.
  static func set(
    _ readers: LogReaders, _ header: inout HeaderRecord, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let least = readers.least else { return try end(&header, arbor, transaction) }
    header.keepsLog = true
    try transaction.put(arbor, key: Array(StoreFormat.logKey.utf8), value: readers.encoded())
    let log = try database(transaction)
    // A deletion moves what cursors stand on, so each begins anew.
    while let oldest = try transaction.reader.cursor(log).first()?.integerKey, oldest <= least,
      try transaction.delete(log, key: oldest)
    {}
  }

  /// Goes through the commits of a range of sequences, oldest first; false where one is missing.
  ///
  /// - Parameter body: As of ``StoreSnapshot/forEachLogged(after:_:)``.
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

  /// Keeps nothing any more.
  static func end(
    _ header: inout HeaderRecord, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard header.keepsLog else { return }
    header.keepsLog = false
    try transaction.delete(arbor, key: Array(StoreFormat.logKey.utf8))
    try transaction.clear(database(transaction))
  }

  /// The database, which files have once somebody has followed them.
  private static func database(
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Database {
    try transaction.createDatabase(StoreFormat.logDatabase, StoreFormat.logFlags)
  }
}
