/// The bytes of a key or a value: a buffer, an array, or a number in the machine's byte order, as
/// LMDB's integer keys and values have it.
package protocol EntryBytes {
  /// Calls `body` with the bytes, which are valid only while it runs.
  func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R
}

extension UnsafeRawBufferPointer: EntryBytes {
  @inlinable @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(self)
  }
}

extension [UInt8]: EntryBytes {
  @inlinable @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) -> R in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}

extension EntryBytes where Self: BitwiseCopyable {
  @inlinable @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    // Sound: the bytes belong to this frame and are lent for the call only.
    try withUnsafeBytes(of: self) { (bytes) throws(E) -> R in try body(bytes) }
  }
}

extension UInt64: EntryBytes {}

// The operations of transactions and cursors take buffers. These overloads take the other forms;
// they are inlined, so that a number is passed from the caller's frame.

extension TransactionReader {
  /// The value of `key`, of several the first; `nil` if the key is missing.
  @inlinable @inline(__always)
  package func get(
    _ database: Database, key: [UInt8]
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try get(database, key: key) }
  }
}

extension Cursor {
  /// The first entry whose key is `key` or above.
  @inlinable @inline(__always)
  package func seek(_ key: some EntryBytes) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seek(key) }
  }

  /// The first entry of exactly this key whose value is `value` or above.
  @inlinable @inline(__always)
  package func seek(
    _ key: some EntryBytes, value: some EntryBytes
  ) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in try seek(key, value: value) }
    }
  }

  /// The first entry of `key`.
  @inlinable @inline(__always)
  package func seekExact(_ key: some EntryBytes) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key) }
  }

  /// The entry of exactly this key and value.
  @inlinable @inline(__always)
  package func seekExact(
    _ key: some EntryBytes, value: some EntryBytes
  ) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in try seekExact(key, value: value) }
    }
  }

  /// The first values of `key`, packed one after another as they are stored on their page; `nil` if
  /// the key is missing. ``nextBatch()`` returns the rest. For databases with fixed duplicates.
  @inlinable @inline(__always)
  package func firstBatch(_ key: some EntryBytes) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try firstBatch(key) }
  }

  /// Puts an entry, as ``put(key:value:_:isCounted:)`` for buffers does.
  @inlinable @inline(__always)
  @discardableResult
  package func put(
    key: some EntryBytes, value: some EntryBytes, _ mode: BulkMode, isCounted: Bool = true
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in
        try put(key: key, value: value, mode, isCounted: isCounted)
      }
    }
  }
}

extension WriteTransaction {
  /// Puts an entry.
  ///
  /// - Returns: `false` if `mode` does not allow changing the entry that exists.
  @inlinable @inline(__always)
  @discardableResult
  package func put(
    _ database: Database, key: some EntryBytes, value: some EntryBytes,
    _ mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in
        try put(database, key: key, value: value, mode)
      }
    }
  }

  /// Deletes a key with all its values; returns `false` if it did not exist.
  @inlinable @inline(__always)
  @discardableResult
  package func delete(_ database: Database, key: some EntryBytes) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try delete(database, key: key) }
  }

  /// Deletes one value of a key; returns `false` if it did not exist. In a database without
  /// duplicates the value does not matter.
  @inlinable @inline(__always)
  @discardableResult
  package func delete(
    _ database: Database, key: some EntryBytes, value: some EntryBytes
  ) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in
        try delete(database, key: key, value: value)
      }
    }
  }

  /// Counts an entry that an uncounted clear has removed and that is not put again.
  @inlinable @inline(__always)
  package func countRemoval(
    _ database: Database, key: some EntryBytes, value: some EntryBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in countRemoval(database, key: key, value: value) }
    }
  }

  /// Counts an entry that is put uncounted, and that an uncounted clear has not removed.
  @inlinable @inline(__always)
  package func countAddition(
    _ database: Database, key: some EntryBytes, value: some EntryBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in countAddition(database, key: key, value: value) }
    }
  }
}
