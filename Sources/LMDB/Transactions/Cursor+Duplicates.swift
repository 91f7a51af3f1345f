internal import CLMDB

/// The values of one key, in a database with duplicates.
extension Cursor {
  /// Returns the number of values of the current key, without a scan. Returns 1 in a database
  /// without duplicates.
  package func valueCount() throws(LMDBError) -> Int {
    guard hasDuplicates else { return 1 }
    var count = 0
    try check(mdb_cursor_count(handle, &count))
    return count
  }

  /// Moves to the next value of the current key. Returns `nil` after the last one.
  package func nextDuplicate() throws(LMDBError) -> Entry? { try step(MDB_NEXT_DUP, forward: true) }

  /// Moves to the last value of the current key.
  package func lastDuplicate() throws(LMDBError) -> Entry? {
    if let pageGuard { try pageGuard.pointee.verifyLastValue(handle) }
    return try move(MDB_LAST_DUP)
  }

  /// Moves to the entry with exactly this key and value.
  @usableFromInline
  package func seekExact(
    _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    try move(MDB_GET_BOTH, key, value)
  }

  /// Moves to the first entry with exactly this key whose value is not less than `value`.
  @usableFromInline
  package func seek(
    _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    try move(MDB_GET_BOTH_RANGE, key, value)
  }

  /// Moves to a key and a value. LMDB does not return the key here, so the current entry is read
  /// again.
  private func move(
    _ operation: MDB_cursor_op, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    if let pageGuard { try pageGuard.pointee.verifySearch(.key(key), values: .key(value)) }
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_cursor_get(handle, &key, &value, operation)
    guard try Self.entry(code, key, value) != nil else { return nil }
    return try current()
  }

  // MARK: Many values at once

  /// Returns the first values of `key`, packed as they are stored on their page, or `nil` if the
  /// key is missing. ``nextBatch()`` returns the rest. For databases with fixed duplicates.
  @usableFromInline
  package func firstBatch(_ key: UnsafeRawBufferPointer) throws(LMDBError)
    -> UnsafeRawBufferPointer?
  {
    // Reading multiple values is only correct directly after this move and with at least two
    // values. Otherwise LMDB returns values of another key.
    guard let entry = try move(MDB_SET_KEY, key) else { return nil }
    if try valueCount() == 1 { return entry.value }
    return try batch(MDB_GET_MULTIPLE)
  }

  /// Returns the next values of the same key, or `nil` after the last one.
  @usableFromInline
  package func nextBatch() throws(LMDBError) -> UnsafeRawBufferPointer? {
    if try valueCount() == 1 { return nil }
    if let pageGuard { try pageGuard.pointee.verifyStep(handle, forward: true, byKey: false) }
    return try batch(MDB_NEXT_MULTIPLE)
  }

  private func batch(_ operation: MDB_cursor_op) throws(LMDBError) -> UnsafeRawBufferPointer? {
    var key = MDB_val()
    var values = MDB_val()
    let code = mdb_cursor_get(handle, &key, &values, operation)
    if code == MDB_NOTFOUND { return nil }
    try check(code)
    let batch = UnsafeRawBufferPointer(values)
    if let pageGuard { pageGuard.pointee.arrive(atEndOf: batch) }
    return batch
  }
}
