internal import CArborBits
internal import CLMDB

@testable import LMDB

// Keys and values in the forms that tests have them in.

extension ReadableTransaction where Self: ~Copyable {
  /// The value of `key`, of several the first; nil where the key is missing.
  func get(
    _ database: Database, key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// The value of an integer key; nil where it is missing.
  func get(
    _ database: Database, key: UInt64
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// The value of a key given as bytes; nil where it is missing.
  func get(
    _ database: Database, key: [UInt8]
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// A cursor over the database, on no entry yet. It must not outlive the transaction.
  func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try reader.cursor(database)
  }

  /// The entries of a database, each duplicate counted; costs nothing.
  func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try reader.entryCount(database)
  }

  /// The shape of the database's tree.
  func statistics(_ database: Database) throws(LMDBError) -> DatabaseStatistics {
    try reader.statistics(database)
  }

  /// The number of values of `key`, without a scan; 0 where it is missing.
  func valueCount(_ database: Database, key: [UInt8]) throws(LMDBError) -> Int {
    try reader.valueCount(database, key: key)
  }
}

extension TransactionReader {
  /// The number of values of `key`, without a scan; 0 where it is missing.
  func valueCount(_ database: Database, key: [UInt8]) throws(LMDBError) -> Int {
    let cursor = try cursor(database)
    guard try cursor.seekExact(key) != nil else { return 0 }
    return try cursor.valueCount()
  }
}

extension Cursor {
  /// The value of the present key before this one; nil before its first one.
  func previousDuplicate() throws(LMDBError) -> Entry? {
    try step(MDB_PREV_DUP, forward: false)
  }

  /// The first values of the key that the cursor stands on; nil where it stands on none.
  func firstBatchOfCurrentKey() throws(LMDBError) -> UnsafeRawBufferPointer? {
    guard let entry = try current() else { return nil }
    return try firstBatch(entry.key)
  }

  /// Calls `body` with all values of `key`, some hundred at a time, until it says false.
  func forEachDuplicateBatch(
    _ key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> Bool
  ) throws(LMDBError) {
    var batch = try firstBatch(key)
    while let values = batch {
      if try !body(values) { return }
      batch = try nextBatch()
    }
  }
}

// Integer literals are of no type that the generic operations take.

extension Cursor {
  /// The entry of exactly this key and number.
  func seekExact(
    _ key: UnsafeRawBufferPointer, value: UInt64
  ) throws(LMDBError) -> Entry? {
    try value.withBytes { (value) throws(LMDBError) in try seekExact(key, value: value) }
  }

  /// The first entry of exactly this key whose number is `value` or above.
  func seek(_ key: UnsafeRawBufferPointer, value: UInt64) throws(LMDBError) -> Entry? {
    try value.withBytes { (value) throws(LMDBError) in try seek(key, value: value) }
  }

  /// The entry of exactly this integer key and number.
  func seekExact(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key, value: value) }
  }

  /// The first entry of exactly this integer key whose number is `value` or above.
  func seek(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seek(key, value: value) }
  }

  /// The first entry of an integer key.
  func seekExact(_ key: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key) }
  }

  /// The first values of an integer key.
  func firstBatch(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try firstBatch(key) }
  }

  /// Puts a number under a key.
  @discardableResult
  func put(
    key: UnsafeRawBufferPointer, value: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try value.withBytes { (value) throws(LMDBError) in try put(key: key, value: value, mode) }
  }

  /// Puts a number under an integer key.
  @discardableResult
  func put(key: UInt64, value: UInt64, _ mode: BulkMode) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(key: key, value: value, mode) }
  }
}

extension WriteTransaction {
  /// Puts an entry under an integer key.
  @discardableResult
  func put(
    _ database: Database, key: UInt64, value: UnsafeRawBufferPointer, _ mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(database, key: key, value: value, mode) }
  }

  /// Puts a number under a key: one entry of an index or a relationship.
  @discardableResult
  func put(
    _ database: Database, key: UnsafeRawBufferPointer, value: UInt64,
    _ mode: PutMode = .noDuplicate
  ) throws(LMDBError) -> Bool {
    try value.withBytes { (value) throws(LMDBError) in
      try put(database, key: key, value: value, mode)
    }
  }

  /// Puts a number under an integer key.
  @discardableResult
  func put(
    _ database: Database, key: UInt64, value: UInt64, _ mode: PutMode = .noDuplicate
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(database, key: key, value: value, mode) }
  }

  /// Deletes an integer key with all its values; false where it was not there.
  @discardableResult
  func delete(_ database: Database, key: UInt64) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try delete(database, key: key) }
  }

  /// Deletes one number of an integer key; false where it was not there.
  @discardableResult
  func delete(_ database: Database, key: UInt64, value: UInt64) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in
      try delete(database, key: key, value: value)
    }
  }
}
