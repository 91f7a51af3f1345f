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
  /// - Returns: false where the pair is there already and `mode` is `noDuplicate`.
  /// - Throws: ``LMDBError/keyExists`` where an appended entry is not above the last one.
  @discardableResult
  package func put(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    if let pageGuard { try pageGuard.pointee.verifyPut(key, value, mode.mode) }
    var key = MDB_val(key)
    var value = MDB_val(value)
    slotPointer.pointee.bytesPut &+= key.mv_size &+ value.mv_size
    let code = mdb_cursor_put(handle, &key, &value, mode.mode.flags)
    return try slotPointer.pointee.judgePut(code, mode.mode)
  }

  /// Puts a number under a key.
  @discardableResult
  package func put(
    key: UnsafeRawBufferPointer, value: UInt64, _ mode: BulkMode
  ) throws(LMDBError) -> Bool {
    try withNumber(value) { (value) throws(LMDBError) in
      try put(key: key, value: value, mode)
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
  /// - Parameter isAbove: Whether the key is above all others, which fills pages completely.
  /// - Throws: ``LMDBError/keyExists`` where it should be and is not.
  package func put(
    key: UInt64, reserving count: Int, isAbove: Bool,
    into fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) {
    let mode = isAbove ? PutMode.append : .overwrite
    slotPointer.pointee.bytesPut &+= 8 &+ count
    var value = MDB_val(mv_size: count, mv_data: nil)
    let code = try withNumber(key) { (bytes) throws(LMDBError) -> Int32 in
      if let pageGuard { try pageGuard.pointee.verifyPut(bytes, bytes, mode) }
      var key = MDB_val(bytes)
      return mdb_cursor_put(handle, &key, &value, mode.flags | UInt32(MDB_RESERVE))
    }
    _ = try slotPointer.pointee.judgePut(code, mode)
    fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
  }
}
