internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A key and one of its values, in the map. Values are only aligned to 2 bytes.
@usableFromInline
package struct Entry {
  @usableFromInline package let key: UnsafeRawBufferPointer
  @usableFromInline package let value: UnsafeRawBufferPointer

  @inlinable
  package init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    self.key = key
    self.value = value
  }

  /// The key in a database with integer keys, or 0 if it is too short in a damaged file.
  @inlinable
  package var integerKey: UInt64 { Self.number(key) }

  /// The value as an integer in native byte order, or 0 if it is too short in a damaged file.
  @inlinable
  package var integerValue: UInt64 { Self.number(value) }

  @inlinable
  static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.count >= 8 ? bytes.loadUnaligned(as: UInt64.self) : 0
  }
}

/// A cursor over the entries of a database.
///
/// Every move returns the entry it reached, or `nil` at the end. The bytes are valid as long as
/// those of its transaction. A new cursor has no current entry: `next` then moves to the first,
/// `previous` to the last one. It must not outlive its transaction and must be used by one thread
/// at a time.
///
/// In a database with duplicates, each value is a separate entry. The values of a key are in
/// ascending order.
@usableFromInline
package struct Cursor: ~Copyable {
  let handle: OpaquePointer
  private let slot: SlotReference
  private let generation: UInt64
  let database: UInt32
  /// The guard that verifies pages before the engine uses them, or `nil` if all are verified.
  let pageGuard: UnsafeMutablePointer<CursorGuard>?
  let hasDuplicates: Bool
  @usableFromInline let numbers: NumberForm

  init(slot: SlotReference, database: Database) throws(LMDBError) {
    let here = slot.pointer
    let guarding = try CursorGuard.make(here, database)
    do throws(LMDBError) { handle = try Self.open(here, database) } catch {
      guarding?.free()
      throw error
    }
    pageGuard = guarding
    self.slot = slot
    generation = here.pointee.generation
    self.database = database.handle
    hasDuplicates = database.flags.contains(.duplicates)
    numbers = database.numbers
    if here.pointee.isWriter { here.pointee.digests.begin(database) }
  }

  /// Opens a new cursor of the engine or reuses a cached one.
  @inline(__always)
  private static func open(
    _ slot: UnsafeMutablePointer<TransactionSlot>, _ database: Database
  ) throws(LMDBError) -> OpaquePointer {
    if let kept = slot.pointee.takeCursor(database.handle) {
      let code = mdb_cursor_renew(slot.pointee.transaction, kept)
      if code == MDB_SUCCESS { return kept }
      mdb_cursor_close(kept)
      throw LMDBError(code: code)
    }
    var opened: OpaquePointer?
    try check(mdb_cursor_open(slot.pointee.transaction, database.handle, &opened))
    guard let opened else { throw .outOfMemory }
    return opened
  }

  deinit {
    pageGuard?.free()
    let isLate = slot.pointer.pointee.generation != generation
    if slot.pointer.pointee.isWriter {
      // The end of a write transaction has already freed its cursors.
      if !isLate { mdb_cursor_close(handle) }
    } else if isLate {
      mdb_cursor_close(handle)
    } else {
      slot.pointer.pointee.keepCursor(handle, database)
    }
  }

  // MARK: Moving

  /// Moves to the first entry.
  package func first() throws(LMDBError) -> Entry? { try moveToEnd(MDB_FIRST, .first) }

  /// Moves to the last entry: in a database with duplicates, the last value of the last key.
  package func last() throws(LMDBError) -> Entry? { try moveToEnd(MDB_LAST, .last) }

  /// Moves to the next entry.
  package func next() throws(LMDBError) -> Entry? { try step(MDB_NEXT, forward: true) }

  /// Moves to the previous entry.
  package func previous() throws(LMDBError) -> Entry? { try step(MDB_PREV, forward: false) }

  /// Moves to the first entry of the next key.
  package func nextKey() throws(LMDBError) -> Entry? {
    try step(MDB_NEXT_NODUP, forward: true, byKey: true)
  }

  /// Moves to the last entry of the previous key.
  package func previousKey() throws(LMDBError) -> Entry? {
    try step(MDB_PREV_NODUP, forward: false, byKey: true)
  }

  /// Returns the current entry, or `nil` on a new cursor.
  package func current() throws(LMDBError) -> Entry? {
    var key = MDB_val()
    var value = MDB_val()
    let code = mdb_cursor_get(handle, &key, &value, MDB_GET_CURRENT)
    if code == EINVAL { return nil }
    return try arrive(code, key, value)
  }

  /// Moves to the first entry whose key is not less than `key`.
  @usableFromInline
  package func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
    try move(MDB_SET_RANGE, key)
  }

  /// Moves to the first entry whose integer key is not less than `key`.
  package func seek(_ key: UInt64) throws(LMDBError) -> Entry? {
    try key.withBytes { (key) throws(LMDBError) in try move(MDB_SET_RANGE, key) }
  }

  /// Moves to the first entry of exactly this key.
  @usableFromInline
  package func seekExact(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
    try move(MDB_SET_KEY, key)
  }

  private func moveToEnd(_ operation: MDB_cursor_op, _ goal: TreeGoal) throws(LMDBError) -> Entry? {
    if let pageGuard { try pageGuard.pointee.verifySearch(goal, values: goal) }
    return try move(operation)
  }

  /// Moves from the current entry to an adjacent one.
  @inline(__always)
  func step(
    _ operation: MDB_cursor_op, forward: Bool, byKey: Bool = false
  ) throws(LMDBError) -> Entry? {
    if let pageGuard {
      try pageGuard.pointee.verifyStep(handle, forward: forward, byKey: byKey)
    }
    return try move(operation)
  }

  /// Moves the cursor. The accessed pages must be verified.
  @inline(__always)
  func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Entry? {
    var key = MDB_val()
    var value = MDB_val()
    return try arrive(mdb_cursor_get(handle, &key, &value, operation), key, value)
  }

  @inline(__always)
  func move(
    _ operation: MDB_cursor_op, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Entry? {
    if let pageGuard { try pageGuard.pointee.verifySearch(.key(key), values: .first) }
    var key = MDB_val(key)
    var value = MDB_val()
    return try arrive(mdb_cursor_get(handle, &key, &value, operation), key, value)
  }

  @inline(__always)
  private func arrive(
    _ code: Int32, _ key: MDB_val, _ value: MDB_val
  ) throws(LMDBError) -> Entry? {
    let entry = try Self.entry(code, key, value)
    if let pageGuard, let entry { try pageGuard.pointee.arrive(at: entry) }
    return entry
  }

  @inline(__always)
  static func entry(
    _ code: Int32, _ key: MDB_val, _ value: MDB_val
  ) throws(LMDBError) -> Entry? {
    if code == MDB_SUCCESS {
      return Entry(key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value))
    }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBError(code: code)
  }

  /// The slot of the transaction, for changes through a cursor.
  var slotPointer: UnsafeMutablePointer<TransactionSlot> { slot.pointer }
}
