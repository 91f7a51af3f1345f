internal import CLMDB

/// Loads many entries in order: a cursor keeps its position, so that LMDB need not search for it
/// again.
///
/// Deleting through a cursor and changing the current entry are not supported: liblmdb 0.9.24 has
/// bugs in both for databases with duplicates.
extension Cursor {
  /// The put modes that are safe through a cursor.
  @usableFromInline
  package enum BulkMode: Sendable {
    /// Does nothing if the key already has this value.
    case noDuplicate
    /// Appends a key that is greater than all others.
    case append
    /// Appends to the last key or adds a greater one. The value must be greater than that key's
    /// last one.
    case appendDuplicate

    fileprivate var mode: PutMode {
      switch self {
      case .noDuplicate: .noDuplicate
      case .append: .append
      case .appendDuplicate: .appendDuplicate
      }
    }
  }

  /// Puts an entry. Only for cursors of the write transaction.
  ///
  /// - Parameter isCounted: Whether the entry is counted in the digest of the database; see
  ///   ``WriteTransaction/clear(_:isCounted:)``.
  /// - Returns: `false` if the pair already exists and `mode` is `noDuplicate`.
  /// - Throws: ``LMDBError/keyExists`` if an appended entry is not greater than the last one.
  @discardableResult
  @usableFromInline
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

  /// The number of values to pass to the engine per call. The engine checks only before the first
  /// one whether its list of changed pages has room for all.
  private static var numbersAtOnce: Int { 512 }

  /// Puts numbers under a key that is greater than all others, or under the last key if they are
  /// greater than its numbers. For databases of numbers.
  ///
  /// The engine searches for the key once per several hundred numbers, which takes half as long as
  /// putting them individually. The resulting pages are the same: `MDB_MULTIPLE` has the same
  /// effect as repeated `MDB_APPENDDUP`.
  ///
  /// - Parameters:
  ///   - numbers: The numbers, ascending. Nothing is put if there are none.
  ///   - isNewKey: Whether the key is greater than all others. Otherwise it must be the last one.
  ///   - isCounted: Whether the entries are counted in the digest of the database; see
  ///     ``WriteTransaction/clear(_:isCounted:)``.
  /// - Throws: ``LMDBError/keyExists`` if the key is another one, or the numbers do not ascend;
  ///   ``LMDBError/badValueSize`` if one cannot be stored.
  package func append(
    key: UnsafeRawBufferPointer, numbers: [UInt64], isNewKey: Bool = true, isCounted: Bool = true
  ) throws(LMDBError) {
    guard let first = numbers.first else { return }
    let form = self.numbers
    guard numbers.allSatisfy(form.holds) else { throw .badValueSize }
    _ = try form.withBytes(of: first) { (first) throws(LMDBError) in
      try put(key: key, value: first, isNewKey ? .append : .appendDuplicate, isCounted: isCounted)
    }
    if numbers.count == 1 { return }
    slotPointer.pointee.bytesPut &+= (numbers.count - 1) &* (key.count &+ form.size)
    for start in stride(from: 1, to: numbers.count, by: Self.numbersAtOnce) {
      try append(key, numbers[start..<min(start + Self.numbersAtOnce, numbers.count)])
    }
    if !isCounted { return }
    for number in numbers.dropFirst() {
      let hash = form.withBytes(of: number) { slotPointer.pointee.digests.hash(database, key, $0) }
      slotPointer.pointee.digests.add(hash, to: database)
    }
  }

  /// Puts numbers under the last key. They must be greater than its numbers. The pages at the end
  /// must be verified.
  private func append(
    _ key: UnsafeRawBufferPointer, _ numbers: ArraySlice<UInt64>
  ) throws(LMDBError) {
    let form = self.numbers
    var engineKey = MDB_val(key)
    // Memory safety: the room is filled with as many bytes as the numbers have, and used only during
    // the call.
    let code = withUnsafeTemporaryAllocation(
      byteCount: numbers.count * form.size, alignment: 8
    ) { room in
      var offset = 0
      for number in numbers {
        form.withBytes(of: number) {
          UnsafeMutableRawBufferPointer(rebasing: room[offset...]).copyMemory(from: $0)
        }
        offset += form.size
      }
      // The first part contains the address and the size of the numbers, the second their count.
      return withUnsafeTemporaryAllocation(of: MDB_val.self, capacity: 2) { parts in
        parts.initializeElement(
          at: 0, to: MDB_val(mv_size: form.size, mv_data: room.baseAddress))
        parts.initializeElement(at: 1, to: MDB_val(mv_size: numbers.count, mv_data: nil))
        return mdb_cursor_put(
          handle, &engineKey, parts.baseAddress, UInt32(MDB_MULTIPLE | MDB_APPENDDUP))
      }
    }
    try slotPointer.pointee.checkCode(code)
  }

  /// Returns the hash of the entry that is about to be replaced, or `nil` if the key is new. The
  /// pages that the change accesses must be verified. The following put finds the page immediately,
  /// because the cursor is positioned there.
  private func formerHash(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> UInt64? {
    var engineKey = MDB_val(key)
    var value = MDB_val()
    let code = mdb_cursor_get(handle, &engineKey, &value, MDB_SET_KEY)
    return try Self.entry(code, engineKey, value).map {
      slotPointer.pointee.digests.hash(database, key, $0.value)
    }
  }

  /// Puts an entry of `count` bytes, which `fill` writes in place, under an integer key of a
  /// database without duplicates, replacing an existing one. After a deletion from the database, a
  /// new cursor has to be used.
  ///
  /// - Parameters:
  ///   - isAbove: Whether the key is greater than all others, which fills pages completely.
  ///   - isCounted: Whether the entry is counted in the digest of the database; see
  ///     ``WriteTransaction/clear(_:isCounted:)``.
  /// - Throws: ``LMDBError/keyExists`` if `isAbove` is set and the key is not greater than all
  ///   others.
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
