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
    guard try slotPointer.pointee.checkPut(code, mode.mode) else { return false }
    if !isCounted { return true }
    let hash = slotPointer.pointee.digests.hash(database, key, value)
    if let former { slotPointer.pointee.digests.subtract(former, from: database) }
    slotPointer.pointee.digests.add(hash, to: database)
    return true
  }

  /// So many numbers are given to the engine at once: it looks only before the first of them
  /// whether its list of changed pages has room for all.
  private static var numbersAtOnce: Int { 512 }

  /// Appends numbers to a database of numbers: under a new key greater than all others, or under
  /// the last key, greater than its existing numbers.
  ///
  /// The engine searches for the key once for several hundred numbers, which takes half the time of
  /// single insertions. The resulting pages are the same, because `MDB_MULTIPLE` repeats
  /// `MDB_APPENDDUP`.
  ///
  /// - Parameters:
  ///   - numbers: The numbers, in ascending order. Nothing is written if there are none.
  ///   - isNewKey: Whether the key is greater than all others. Otherwise, it is the last key.
  ///   - isCounted: Whether the digest of the database includes the entries; see
  ///     ``WriteTransaction/clear(_:isCounted:)``.
  /// - Throws: ``LMDBError/keyExists`` if the key is a different one, or the numbers don't ascend.
  package func append(
    key: UnsafeRawBufferPointer, numbers: [UInt64], isNewKey: Bool = true, isCounted: Bool = true
  ) throws(LMDBError) {
    guard let first = numbers.first else { return }
    _ = try first.withBytes { (first) throws(LMDBError) in
      try put(key: key, value: first, isNewKey ? .append : .appendDuplicate, isCounted: isCounted)
    }
    slotPointer.pointee.bytesPut &+= (numbers.count - 1) &* (key.count &+ 8)
    try numbers.withUnsafeBufferPointer { (numbers) throws(LMDBError) in
      for start in stride(from: 1, to: numbers.count, by: Self.numbersAtOnce) {
        try append(key, numbers[start..<min(start + Self.numbersAtOnce, numbers.count)])
      }
      if !isCounted { return }
      for number in numbers.dropFirst() {
        // Sound: the bytes are this frame's own and are lent for the call only.
        let hash = withUnsafeBytes(of: number) {
          slotPointer.pointee.digests.hash(database, key, $0)
        }
        slotPointer.pointee.digests.add(hash, to: database)
      }
    }
  }

  /// Puts numbers under the last key, above those that it has, where the pages at the end are
  /// verified.
  private func append(
    _ key: UnsafeRawBufferPointer, _ numbers: Slice<UnsafeBufferPointer<UInt64>>
  ) throws(LMDBError) {
    let bytes = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: numbers))
    var engineKey = MDB_val(key)
    // One part says where the numbers lie and how long each is, the other how many there are.
    let code = withUnsafeTemporaryAllocation(of: MDB_val.self, capacity: 2) { parts in
      parts.initializeElement(
        at: 0,
        to: MDB_val(mv_size: 8, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)))
      parts.initializeElement(at: 1, to: MDB_val(mv_size: numbers.count, mv_data: nil))
      return mdb_cursor_put(
        handle, &engineKey, parts.baseAddress, UInt32(MDB_MULTIPLE | MDB_APPENDDUP))
    }
    try slotPointer.pointee.checkCode(code)
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
    try key.withBytes { (bytes) throws(LMDBError) in
      if let pageGuard { try pageGuard.pointee.verifyPut(bytes, bytes, mode) }
      let former = isAbove ? nil : try formerHash(bytes)
      var key = MDB_val(bytes)
      var value = MDB_val(mv_size: count, mv_data: nil)
      let code = mdb_cursor_put(handle, &key, &value, mode.flags | UInt32(MDB_RESERVE))
      _ = try slotPointer.pointee.checkPut(code, mode)
      fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      if !isCounted { return }
      let hash = slotPointer.pointee.digests.hash(database, bytes, UnsafeRawBufferPointer(value))
      if let former { slotPointer.pointee.digests.subtract(former, from: database) }
      slotPointer.pointee.digests.add(hash, to: database)
    }
  }
}
