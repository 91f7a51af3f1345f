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
  package func nextDuplicate() throws(LMDBError) -> Entry? {
    try step(MDB_NEXT_DUP, forward: true)
  }

  /// The value of the present key before this one; nil before its first one.
  package func previousDuplicate() throws(LMDBError) -> Entry? {
    try step(MDB_PREV_DUP, forward: false)
  }

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

  /// The entry of exactly this key and number.
  package func seekExact(
    _ key: UnsafeRawBufferPointer, value: UInt64
  ) throws(LMDBError) -> Entry? {
    try withNumber(value) { (value) throws(LMDBError) in try move(MDB_GET_BOTH, key, value) }
  }

  /// The entry of exactly this integer key and number.
  package func seekExact(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try withNumber(key) { (key) throws(LMDBError) in try seekExact(key, value: value) }
  }

  /// The first entry of exactly this key whose value is `value` or above.
  package func seek(
    _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    try move(MDB_GET_BOTH_RANGE, key, value)
  }

  /// The first entry of exactly this key whose number is `value` or above.
  package func seek(
    _ key: UnsafeRawBufferPointer, value: UInt64
  ) throws(LMDBError) -> Entry? {
    try withNumber(value) { (value) throws(LMDBError) in
      try move(MDB_GET_BOTH_RANGE, key, value)
    }
  }

  /// The first entry of exactly this integer key whose number is `value` or above.
  package func seek(_ key: UInt64, value: UInt64) throws(LMDBError) -> Entry? {
    try withNumber(key) { (key) throws(LMDBError) in try seek(key, value: value) }
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

  /// The first values of an integer key.
  package func firstBatch(_ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try withNumber(key) { (key) throws(LMDBError) in try firstBatch(key) }
  }

  /// The first values of a key.
  package func firstBatch(_ key: [UInt8]) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
      try firstBatch(UnsafeRawBufferPointer(key))
    }
  }

  /// The first values of the key that the cursor stands on; nil where it stands on none.
  package func firstBatchOfCurrentKey() throws(LMDBError) -> UnsafeRawBufferPointer? {
    guard let entry = try current() else { return nil }
    return try firstBatch(entry.key)
  }

  /// The next values of the same key; nil after its last one.
  package func nextBatch() throws(LMDBError) -> UnsafeRawBufferPointer? {
    if try valueCount() == 1 { return nil }
    if let pageGuard { try pageGuard.pointee.verifyStep(handle, forward: true, byKey: false) }
    return try batch(MDB_NEXT_MULTIPLE)
  }

  /// Calls `body` with all values of `key`, some hundred at a time, until it says false.
  @inlinable
  package func forEachDuplicateBatch(
    _ key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> Bool
  ) throws(LMDBError) {
    var batch = try firstBatch(key)
    while let values = batch {
      if try !body(values) { return }
      batch = try nextBatch()
    }
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
