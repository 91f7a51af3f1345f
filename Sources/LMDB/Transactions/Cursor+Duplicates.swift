internal import CLMDB

/// The values of one key, in a database with duplicates.
extension Cursor {
  /// The number of values of the present key; costs nothing. 1 in a database without duplicates.
  package func valueCount() throws(LMDBError) -> Int {
    guard hasDuplicates else { return 1 }
    var count = 0
    try check(mdb_cursor_count(handle, &count))
    return count
  }

  /// The next value of the present key; nil after its last one.
  package func nextDuplicate() throws(LMDBError) -> Entry? { try step(MDB_NEXT_DUP, forward: true) }

  /// The last value of the present key.
  package func lastDuplicate() throws(LMDBError) -> Entry? {
    if let pageGuard { try pageGuard.pointee.verifyLastValue(handle) }
    return try move(MDB_LAST_DUP)
  }

  /// The entry of exactly this key and value.
  package func seekExact(
    _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    try move(MDB_GET_BOTH, key, value)
  }

  /// The first entry of exactly this key whose value is `value` or above.
  package func seek(
    _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    try move(MDB_GET_BOTH_RANGE, key, value)
  }

  /// LMDB does not give the key back here, so the entry has the caller's.
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

  /// The first values of `key`, packed one after the other as they lie on their page; nil where the
  /// key is missing. The rest comes from ``nextBatch()``. For databases with fixed duplicates.
  package func firstBatch(_ key: UnsafeRawBufferPointer) throws(LMDBError)
    -> UnsafeRawBufferPointer?
  {
    // Reading many at once is right only directly after this move and with two values or more:
    // after others LMDB returns values of another key.
    guard let entry = try move(MDB_SET_KEY, key) else { return nil }
    if try valueCount() == 1 { return entry.value }
    return try batch(MDB_GET_MULTIPLE)
  }

  /// The next values of the same key; nil after its last one.
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
