internal import CLMDB

/// A snapshot: the state of the file as of one commit, unaffected by later ones.
///
/// What it returns points into the map and is valid until the snapshot ends. It serves one thread
/// at a time and may move between threads. While it lives, pages that later commits free are not
/// reused and the file grows: end it soon.
package struct ReadTransaction: ~Copyable, ReadableTransaction {
  let environment: Environment
  let slot: SlotReference

  @inline(__always)
  init(environment: Environment, slot: SlotReference) {
    self.environment = environment
    self.slot = slot
  }

  deinit { environment.endRead(slot) }

  /// A copyable view for functions that read; valid until this snapshot ends.
  package var reader: TransactionReader { TransactionReader(slot: slot) }
}

/// What both kinds of transactions can do: read.
package protocol ReadableTransaction: ~Copyable {
  /// A copyable view of the transaction; valid until it ends.
  var reader: TransactionReader { get }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The transaction whose commit this sees; for a writer the one it is going to be.
  @inlinable
  package var id: UInt64 { reader.id }

  /// The value of `key`, of several the first; nil where the key is missing.
  @inlinable
  package func get(
    _ database: Database, key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// The value of an integer key; nil where it is missing.
  @inlinable
  package func get(
    _ database: Database, key: UInt64
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// The value of a key given as bytes; nil where it is missing.
  @inlinable
  package func get(
    _ database: Database, key: [UInt8]
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// A cursor over the database, on no entry yet. It must not outlive the transaction.
  @inlinable
  package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try reader.cursor(database)
  }

  /// The entries of a database, each duplicate counted; costs nothing.
  @inlinable
  package func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try reader.entryCount(database)
  }

  /// The shape of the database's tree.
  @inlinable
  package func statistics(_ database: Database) throws(LMDBError) -> DatabaseStatistics {
    try reader.statistics(database)
  }

  /// The number of values of `key`, without a scan; 0 where it is missing.
  @inlinable
  package func valueCount(_ database: Database, key: [UInt8]) throws(LMDBError) -> Int {
    try reader.valueCount(database, key: key)
  }

  /// The entries between two keys, in either direction.
  @inlinable
  package func range(
    _ database: Database, from lower: KeyBound = .unbounded, to upper: KeyBound = .unbounded,
    _ direction: CursorRange.Direction = .forward
  ) throws(LMDBError) -> CursorRange {
    try reader.range(database, from: lower, to: upper, direction)
  }
}
