package import LMDB

/// Reads directly on a transaction, for tests that cover both kinds of transactions.
extension ReadableTransaction where Self: ~Copyable {
  package func get(
    _ database: Database, key: some EntryBytes
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try reader.get(database, key: key) }
  }

  package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try reader.cursor(database)
  }

  package func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try reader.entryCount(database)
  }
}
