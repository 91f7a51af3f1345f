package import LMDB

/// A key and one of its values, where they lie in the map. Values are aligned to 2 bytes only.
package struct EngineEntry {
  package let base: Entry

  @inline(__always)
  init(base: Entry) { self.base = base }

  @inline(__always)
  init?(_ base: Entry?) {
    guard let base else { return nil }
    self.base = base
  }

  package var key: UnsafeRawBufferPointer { @inline(__always) get { base.key } }
  package var value: UnsafeRawBufferPointer { @inline(__always) get { base.value } }
  /// The key as a number; 0 where a damaged file has a shorter one.
  package var integerKey: UInt64 { @inline(__always) get { base.integerKey } }
  /// The value as a number; 0 where a damaged file has a shorter one.
  package var integerValue: UInt64 { @inline(__always) get { base.integerValue } }
}

/// A position in a database, moved from entry to entry.
///
/// Every move returns the entry it reached, or nil at the end; its bytes are valid as those of the
/// transaction are. A new cursor is on no entry: `next` then means the first. It must not outlive
/// its transaction and serves one thread at a time. Each value of a key is an entry of its own.
package struct EngineCursor: ~Copyable {
  package let base: Cursor

  @inline(__always)
  init(_ base: consuming Cursor) { self.base = base }

  // MARK: Moving

  @inline(__always)
  package func first() throws(EngineError) -> EngineEntry? { try EngineEntry(base.first()) }

  @inline(__always)
  package func last() throws(EngineError) -> EngineEntry? { try EngineEntry(base.last()) }

  @inline(__always)
  package func next() throws(EngineError) -> EngineEntry? { try EngineEntry(base.next()) }

  /// The first value of the next key.
  @inline(__always)
  package func nextKey() throws(EngineError) -> EngineEntry? { try EngineEntry(base.nextKey()) }

  /// The last value of the previous key.
  @inline(__always)
  package func previousKey() throws(EngineError) -> EngineEntry? {
    try EngineEntry(base.previousKey())
  }

  /// The next value of the present key; nil after its last one.
  @inline(__always)
  package func nextDuplicate() throws(EngineError) -> EngineEntry? {
    try EngineEntry(base.nextDuplicate())
  }

  /// The last value of the present key.
  @inline(__always)
  package func lastDuplicate() throws(EngineError) -> EngineEntry? {
    try EngineEntry(base.lastDuplicate())
  }

  // MARK: Seeking

  /// The first entry whose key is `key` or above.
  @inline(__always)
  package func seek(_ key: some EngineBytes) throws(EngineError) -> EngineEntry? {
    try key.withBytes { (key) throws(EngineError) in try EngineEntry(base.seek(key)) }
  }

  /// The first entry of exactly this key whose value is `value` or above.
  @inline(__always)
  package func seek(
    _ key: some EngineBytes, value: some EngineBytes
  ) throws(EngineError) -> EngineEntry? {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in
        try EngineEntry(base.seek(key, value: value))
      }
    }
  }

  /// The first entry of exactly this key.
  @inline(__always)
  package func seekExact(_ key: some EngineBytes) throws(EngineError) -> EngineEntry? {
    try key.withBytes { (key) throws(EngineError) in try EngineEntry(base.seekExact(key)) }
  }

  /// The entry of exactly this key and number.
  @inline(__always)
  package func seekExact(_ key: UInt64, value: UInt64) throws(EngineError) -> EngineEntry? {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in
        try EngineEntry(base.seekExact(key, value: value))
      }
    }
  }

  // MARK: The values of one key

  /// The number of values of the present key; costs nothing.
  @inline(__always)
  package func valueCount() throws(EngineError) -> Int { try base.valueCount() }

  /// The first values of `key`, packed one after the other as they lie on their page; nil where the
  /// key is missing. The rest comes from ``nextBatch()``. For values of one size.
  @inline(__always)
  package func firstBatch(_ key: some EngineBytes) throws(EngineError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(EngineError) in try base.firstBatch(key) }
  }

  /// The next values of the same key; nil after its last one.
  @inline(__always)
  package func nextBatch() throws(EngineError) -> UnsafeRawBufferPointer? { try base.nextBatch() }

  // MARK: Writing many entries in order

  /// How a cursor puts an entry; there is no change of one through a cursor.
  package struct BulkMode {
    fileprivate let base: Cursor.BulkMode

    /// Leaves the pair if the key has this value already.
    package static var noDuplicate: Self { Self(base: .noDuplicate) }
    /// The key is above all others.
    package static var append: Self { Self(base: .append) }
    /// The key is the last or above, the value above that key's last one.
    package static var appendDuplicate: Self { Self(base: .appendDuplicate) }
  }

  /// Puts an entry; false where the pair is there already and `mode` is `noDuplicate`.
  ///
  /// - Parameter isCounted: Whether the digest of the database counts the entry; see
  ///   ``EngineWriter/clear(_:isCounted:)``.
  @inline(__always)
  @discardableResult
  package func put(
    key: some EngineBytes, value: some EngineBytes, _ mode: BulkMode, isCounted: Bool = true
  ) throws(EngineError) -> Bool {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in
        try base.put(key: key, value: value, mode.base, isCounted: isCounted)
      }
    }
  }

  /// Puts `count` bytes, which `fill` writes in place, in the place of what the key has. Not behind
  /// a deletion from the database: take another cursor then.
  @inline(__always)
  package func put(
    key: UInt64, reserving count: Int, isAbove: Bool, isCounted: Bool = true,
    into fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(EngineError) {
    try base.put(key: key, reserving: count, isAbove: isAbove, isCounted: isCounted, into: fill)
  }

  /// Puts ascending numbers under a key above all others, or under the last one.
  @inline(__always)
  package func append(
    key: UnsafeRawBufferPointer, numbers: [UInt64], isNewKey: Bool = true, isCounted: Bool = true
  ) throws(EngineError) {
    try base.append(key: key, numbers: numbers, isNewKey: isNewKey, isCounted: isCounted)
  }
}
