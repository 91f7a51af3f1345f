internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The position of a cursor among verified pages.
///
/// A cursor that steps within a leaf whose neighbours are verified needs no further check. In a
/// snapshot, the leaf is identified by the address of the entry; in a write transaction, by its
/// key.
struct CursorGuard {
  private let pages: UnsafeMutablePointer<PageGuard>
  private var tree: GuardedTree
  private let isWriter: Bool
  private let pageMask: UInt
  /// The maximum size of an inline value. Larger ones have overflow pages.
  private let maximumInlineSize: Int

  /// The address of the cursor's current key, or 0 if it is unknown.
  private var key: UInt = 0
  /// The address of the cursor's current value, or 0 if it is unknown.
  private var value: UInt = 0
  /// The leaf whose neighbours are verified.
  private var leaf: UInt = 1
  /// The leaf of a key's values whose neighbours are verified.
  private var valueLeaf: UInt = 1

  /// Creates the guard of a cursor. Returns `nil` if the database has no pages in the committed
  /// state.
  init?(
    _ pages: UnsafeMutablePointer<PageGuard>, _ database: Database, isWriter: Bool
  ) throws(LMDBError) {
    guard let tree = try pages.pointee.tree(of: database) else { return nil }
    self.pages = pages
    self.tree = tree
    self.isWriter = isWriter
    let pageSize = pages.pointee.state.pageSize
    pageMask = ~UInt(bitPattern: pageSize - 1)
    maximumInlineSize = pageSize / 2
  }

  /// Creates the guard of a transaction's cursor. Returns `nil` if the engine is trusted or has
  /// nothing to read from the file.
  static func make(
    _ slot: UnsafeMutablePointer<TransactionSlot>, _ database: Database
  ) throws(LMDBError) -> UnsafeMutablePointer<CursorGuard>? {
    guard let pages = slot.pointee.pageGuard,
      let made = try CursorGuard(pages, database, isWriter: slot.pointee.isWriter)
    else { return nil }
    // Memory safety: the cursor frees it.
    let pointer = UnsafeMutablePointer<CursorGuard>.allocate(capacity: 1)
    pointer.initialize(to: made)
    return pointer
  }

  /// Verifies the pages that a put accesses.
  mutating func verifyPut(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ mode: PutMode
  ) throws(LMDBError) {
    (self.key, self.value) = (0, 0)
    try pages.pointee.verifyPut(&tree, key, value, mode)
  }

  /// Verifies the pages that a search accesses.
  mutating func verifySearch(_ goal: TreeGoal, values: TreeGoal) throws(LMDBError) {
    (key, value) = (0, 0)
    try pages.pointee.verifySearch(tree, goal, values: values)
  }

  /// Verifies the pages that a step from the current entry accesses. With `byKey`, the key's other
  /// values are skipped.
  @inline(__always)
  mutating func verifyStep(
    _ cursor: OpaquePointer, forward: Bool, byKey: Bool
  ) throws(LMDBError) {
    if key & pageMask == leaf {
      let page = value & pageMask
      if byKey || page == leaf || page == valueLeaf || !tree.hasSeveralValues { return }
    }
    try verifyFarStep(cursor, forward: forward, byKey: byKey)
  }

  @inline(never)
  private mutating func verifyFarStep(
    _ cursor: OpaquePointer, forward: Bool, byKey: Bool
  ) throws(LMDBError) {
    var key = MDB_val()
    var value = MDB_val()
    switch mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT) {
    case MDB_SUCCESS: break
    case MDB_NOTFOUND:
      _ = try pages.pointee.verifyAround(tree, .last)
      return
    default:
      let goal: TreeGoal = forward ? .first : .last
      return try pages.pointee.verifySearch(tree, goal, values: goal)
    }
    let keyBytes = UnsafeRawBufferPointer(key)
    let step = try pages.pointee.verifyAround(tree, .key(keyBytes))
    leaf = isWriter ? 1 : step.address
    if byKey { return }
    let values = try pages.pointee.verifyValuesAround(tree, keyBytes, UnsafeRawBufferPointer(value))
    valueLeaf = isWriter ? 1 : values?.address ?? 1
  }

  /// Verifies the pages that moving to the last value of the current key accesses.
  mutating func verifyLastValue(_ cursor: OpaquePointer) throws(LMDBError) {
    var key = MDB_val()
    guard mdb_cursor_get(cursor, &key, nil, MDB_GET_CURRENT) == MDB_SUCCESS else { return }
    try pages.pointee.verifySearch(tree, .key(UnsafeRawBufferPointer(key)), values: .last)
    value = 0
  }

  /// Records the entry that the cursor has moved to, and checks a large value.
  @inline(__always)
  mutating func arrive(at entry: Entry) throws(LMDBError) {
    if let start = entry.key.baseAddress { key = UInt(bitPattern: start) }
    value = UInt(bitPattern: entry.value.baseAddress)
    if entry.value.count > maximumInlineSize {
      try pages.pointee.verifyLargeValue(entry.value, of: tree)
    }
  }

  /// Records the last of many values.
  @inline(__always)
  mutating func arrive(atEndOf values: UnsafeRawBufferPointer) {
    value = UInt(bitPattern: values.baseAddress) &+ UInt(max(values.count, 1) - 1)
  }
}

extension TreeStep {
  fileprivate var address: UInt { UInt(bitPattern: page.bytes.baseAddress) }
}

extension UnsafeMutablePointer<CursorGuard> {
  /// Destroys the guard of a cursor.
  func free() {
    deinitialize(count: 1)
    deallocate()
  }
}
