/// The bytes of a key or a value: a buffer, an array, or a number in native byte order, as in
/// LMDB's integer keys and values.
@usableFromInline
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
    // Memory safety: the bytes belong to this frame and are used only during the call.
    try withUnsafeBytes(of: self) { (bytes) throws(E) -> R in try body(bytes) }
  }
}

extension UInt64: EntryBytes {}

// The operations of transactions and cursors take buffers. These overloads take the other types.
// They are inlined, so that a number is passed from the caller's frame.

extension TransactionReader {
  /// Returns the value of `key`, or the first of several, or `nil` if the key is missing.
  @inlinable @inline(__always)
  package func get(
    _ database: Database, key: [UInt8]
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try get(database, key: key) }
  }
}

extension Cursor {
  /// Moves to the first entry whose key is not less than `key`.
  @inlinable @inline(__always)
  package func seek(_ key: some EntryBytes) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seek(key) }
  }

  /// Moves to the first entry with exactly this key whose value is not less than `value`.
  @inlinable @inline(__always)
  package func seek(
    _ key: some EntryBytes, value: some EntryBytes
  ) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in try seek(key, value: value) }
    }
  }

  /// Moves to the first entry of exactly this key.
  @inlinable @inline(__always)
  package func seekExact(_ key: some EntryBytes) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try seekExact(key) }
  }

  /// Moves to the entry with exactly this key and value.
  @inlinable @inline(__always)
  package func seekExact(
    _ key: some EntryBytes, value: some EntryBytes
  ) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in
      try value.withBytes { (value) throws(LMDBError) in try seekExact(key, value: value) }
    }
  }

  /// Returns the first values of `key`, packed as they are stored on their page, or `nil` if the
  /// key is missing. ``nextBatch()`` returns the rest. For databases with fixed duplicates.
  @inlinable @inline(__always)
  package func firstBatch(_ key: some EntryBytes) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(LMDBError) in try firstBatch(key) }
  }

  /// Puts an entry, like ``put(key:value:_:isCounted:)`` for buffers.
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
  /// - Returns: `false` if `mode` does not allow changing an existing entry.
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

  /// Deletes a key with all its values. Returns `false` if it does not exist.
  @inlinable @inline(__always)
  @discardableResult
  package func delete(_ database: Database, key: some EntryBytes) throws(LMDBError) -> Bool {
    try key.withBytes { (key) throws(LMDBError) in try delete(database, key: key) }
  }

  /// Deletes one value of a key. Returns `false` if it does not exist. In a database without
  /// duplicates, the value is ignored.
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

  /// Counts an entry as removed if an uncounted clear removed it and it isn't put back.
  @inlinable @inline(__always)
  package func countRemoval(
    _ database: Database, key: some EntryBytes, value: some EntryBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in countRemoval(database, key: key, value: value) }
    }
  }

  /// Counts as added an entry that is put uncounted and was not removed by an uncounted clear.
  @inlinable @inline(__always)
  package func countAddition(
    _ database: Database, key: some EntryBytes, value: some EntryBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in countAddition(database, key: key, value: value) }
    }
  }
}
