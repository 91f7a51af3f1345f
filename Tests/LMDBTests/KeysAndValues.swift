internal import CArborBits
internal import CLMDB

@testable import LMDB

// Convenience overloads for the key and value types that tests use.

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the value of `key`, or the first one of several; `nil` if the key doesn't exist.
  func get(
    _ database: Database, key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// Returns the value of an integer key; `nil` if it doesn't exist.
  func get(
    _ database: Database, key: UInt64
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// Returns the value of a key given as bytes; `nil` if it doesn't exist.
  func get(
    _ database: Database, key: [UInt8]
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try reader.get(database, key: key)
  }

  /// Returns an unpositioned cursor. It must not outlive the transaction.
  func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try reader.cursor(database)
  }

  /// Returns the number of entries, counting each duplicate, in constant time.
  func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try reader.entryCount(database)
  }

  /// Returns the statistics of the database's tree.
  func statistics(_ database: Database) throws(LMDBError) -> DatabaseStatistics {
    try reader.statistics(database)
  }

  /// Returns the number of values of `key`, without a scan; 0 if it doesn't exist.
  func valueCount(_ database: Database, key: [UInt8]) throws(LMDBError) -> Int {
    try reader.valueCount(database, key: key)
  }
}

extension TransactionReader {
  /// Returns the number of values of `key`, without a scan; 0 if it doesn't exist.
  func valueCount(_ database: Database, key: [UInt8]) throws(LMDBError) -> Int {
    let cursor = try cursor(database)
    guard try cursor.seekExact(key) != nil else { return 0 }
    return try cursor.valueCount()
  }
}

extension Cursor {
  /// Moves to the previous value of the current key; `nil` if there isn't one.
  func previousDuplicate() throws(LMDBError) -> Entry? {
    try step(MDB_PREV_DUP, forward: false)
  }

  /// Returns the first values of the current key; `nil` if the cursor isn't positioned.
  func firstBatchOfCurrentKey() throws(LMDBError) -> UnsafeRawBufferPointer? {
    guard let entry = try current() else { return nil }
    return try firstBatch(entry.key)
  }

  /// Calls `body` with the values of `key`, in batches, until it returns `false`.
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

// Integer literals have no type that the generic operations accept.

extension Cursor {
  /// Moves to the entry with exactly this key and number.
  func seekExact(
    _ key: UnsafeRawBufferPointer, value: UInt64
  ) throws(LMDBError) -> Entry? {
    try value.withBytes { (value) throws(LMDBError) in try seekExact(key, value: value) }
  }

  /// Moves to the first entry with exactly this key whose number is at least `value`.
  func seek(_ key: UnsafeRawBufferPointer, value: UInt64) throws(LMDBError) -> Entry? {
    try value.withBytes { (value) throws(LMDBError) in try seek(key, value: value) }
  }

  /// Moves to the entry with exactly this integer key and number.
  func seekExact(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key, value: value) }
  }

  /// Moves to the first entry with exactly this integer key whose number is at least `value`.
  func seek(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seek(key, value: value) }
  }

  /// Moves to the first entry of an integer key.
  func seekExact(_ key: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key) }
  }

  /// Returns the first values of an integer key.
  func firstBatch(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try firstBatch(key) }
  }

  /// Stores a number under a key.
  @discardableResult
  func put(
    key: UnsafeRawBufferPointer, value: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try value.withBytes { (value) throws(LMDBError) in try put(key: key, value: value, mode) }
  }

  /// Stores a number under an integer key.
  @discardableResult
  func put(key: UInt64, value: UInt64, _ mode: BulkMode) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(key: key, value: value, mode) }
  }
}

extension WriteTransaction {
  /// Stores an entry under an integer key.
  @discardableResult
  func put(
    _ database: Database, key: UInt64, value: UnsafeRawBufferPointer, _ mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(database, key: key, value: value, mode) }
  }

  /// Stores a number under a key, as an entry of an index or a relationship.
  @discardableResult
  func put(
    _ database: Database, key: UnsafeRawBufferPointer, value: UInt64,
    _ mode: PutMode = .noDuplicate
  ) throws(LMDBError) -> Bool {
    try value.withBytes { (value) throws(LMDBError) in
      try put(database, key: key, value: value, mode)
    }
  }

  /// Stores a number under an integer key.
  @discardableResult
  func put(
    _ database: Database, key: UInt64, value: UInt64, _ mode: PutMode = .noDuplicate
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try put(database, key: key, value: value, mode) }
  }

  /// Deletes an integer key with all its values. Returns `false` if it doesn't exist.
  @discardableResult
  func delete(_ database: Database, key: UInt64) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try delete(database, key: key) }
  }

  /// Deletes one number of an integer key. Returns `false` if it doesn't exist.
  @discardableResult
  func delete(_ database: Database, key: UInt64, value: UInt64) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in
      try delete(database, key: key, value: value)
    }
  }
}
