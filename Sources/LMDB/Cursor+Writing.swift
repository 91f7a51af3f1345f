internal import CLMDB

/// Loading many entries in order: a cursor keeps its place, so that LMDB need not search it anew.
///
/// There is no deletion through a cursor and no change of the present entry: liblmdb 0.9.24 has
/// errors in both for databases with duplicates.
extension Cursor {
  /// The puts that are sound through a cursor.
  package enum BulkMode: Sendable {
    /// Leave the pair if this key has this value already.
    case noDuplicate
    /// The key is above all others.
    case append
    /// The key is the last or above, the value above that key's last one.
    case appendDuplicate

    fileprivate var mode: PutMode {
      switch self {
      case .noDuplicate: .noDuplicate
      case .append: .append
      case .appendDuplicate: .appendDuplicate
      }
    }
  }

  /// Puts an entry. Only on a cursor of the writing transaction.
  ///
  /// - Parameter isCounted: Whether the digest of the database counts the entry; see
  ///   ``WriteTransaction/clear(_:isCounted:)``.
  /// - Returns: false where the pair is there already and `mode` is `noDuplicate`.
  /// - Throws: ``LMDBError/keyExists`` where an appended entry is not above the last one.
  @discardableResult
  package func put(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, _ mode: BulkMode,
    isCounted: Bool = true
  ) throws(LMDBError) -> Bool {
    if let pageGuard { try pageGuard.pointee.verifyPut(key, value, mode.mode) }
    slotPointer.pointee.bytesPut &+= key.count &+ value.count
    let former = mode == .noDuplicate && !hasDuplicates ? try formerHash(key) : nil
    var engineKey = MDB_val(key)
    var engineValue = MDB_val(value)
    let code = mdb_cursor_put(handle, &engineKey, &engineValue, mode.mode.flags)
    guard try slotPointer.pointee.judgePut(code, mode.mode) else { return false }
    if !isCounted { return true }
    let hash = slotPointer.pointee.digests.hash(database, key, value)
    if let former { slotPointer.pointee.digests.subtract(former, from: database) }
    slotPointer.pointee.digests.add(hash, to: database)
    return true
  }

  /// The hash of the entry that is about to be replaced; nil where the key is new. The pages that
  /// the change touches are verified. What comes next finds the page at once, since the cursor
  /// stands there.
  private func formerHash(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> UInt64? {
    var engineKey = MDB_val(key)
    var value = MDB_val()
    let code = mdb_cursor_get(handle, &engineKey, &value, MDB_SET_KEY)
    return try Self.entry(code, engineKey, value).map {
      slotPointer.pointee.digests.hash(database, key, $0.value)
    }
  }

  /// Puts a number under a key.
  @discardableResult
  package func put(
    key: UnsafeRawBufferPointer, value: UInt64, _ mode: BulkMode, isCounted: Bool = true
  ) throws(LMDBError) -> Bool {
    try withNumber(value) { (value) throws(LMDBError) in
      try put(key: key, value: value, mode, isCounted: isCounted)
    }
  }

  /// Puts an entry under an integer key.
  @discardableResult
  package func put(
    key: UInt64, value: UnsafeRawBufferPointer, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try withNumber(key) { (key) throws(LMDBError) in try put(key: key, value: value, mode) }
  }

  /// Puts a number under an integer key.
  @discardableResult
  package func put(
    key: UInt64, value: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try withNumber(key) { (key) throws(LMDBError) in try put(key: key, value: value, mode) }
  }

  /// Puts an entry of `count` bytes, which `fill` writes in place, under an integer key of a
  /// database without duplicates, in the place of what is there. Not behind a deletion from the
  /// database: take another cursor then.
  ///
  /// - Parameters:
  ///   - isAbove: Whether the key is above all others, which fills pages completely.
  ///   - isCounted: Whether the digest of the database counts the entry; see
  ///     ``WriteTransaction/clear(_:isCounted:)``.
  /// - Throws: ``LMDBError/keyExists`` where it should be and is not.
  package func put(
    key: UInt64, reserving count: Int, isAbove: Bool, isCounted: Bool = true,
    into fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) {
    let mode = isAbove ? PutMode.append : .overwrite
    slotPointer.pointee.bytesPut &+= 8 &+ count
    try withNumber(key) { (bytes) throws(LMDBError) in
      if let pageGuard { try pageGuard.pointee.verifyPut(bytes, bytes, mode) }
      let former = isAbove ? nil : try formerHash(bytes)
      var key = MDB_val(bytes)
      var value = MDB_val(mv_size: count, mv_data: nil)
      let code = mdb_cursor_put(handle, &key, &value, mode.flags | UInt32(MDB_RESERVE))
      _ = try slotPointer.pointee.judgePut(code, mode)
      fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      if !isCounted { return }
      let hash = slotPointer.pointee.digests.hash(
        database, bytes, UnsafeRawBufferPointer(value))
      if let former { slotPointer.pointee.digests.subtract(former, from: database) }
      slotPointer.pointee.digests.add(hash, to: database)
    }
  }
}
