internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Where a cursor stands among verified pages.
///
/// A cursor that steps within a leaf whose neighbours are verified needs no further look: in a
/// snapshot the address of an entry tells the leaf that it lies in, in the writing transaction its
/// key does.
struct CursorGuard {
  private let pages: UnsafeMutablePointer<PageGuard>
  private var tree: GuardedTree
  private let isWriter: Bool
  private let pageMask: UInt
  /// Larger values lie in pages of their own.
  private let mostInline: Int

  /// Where the entry lies that the cursor stands on; 0 where that is not known.
  private var key: UInt = 0
  private var value: UInt = 0
  /// The leaf whose neighbours are verified, and the leaf of values.
  private var leaf: UInt = 1
  private var valueLeaf: UInt = 1

  /// nil where the database has no pages in the committed state.
  init?(
    _ pages: UnsafeMutablePointer<PageGuard>, _ database: Database, isWriter: Bool
  ) throws(LMDBError) {
    guard let tree = try pages.pointee.tree(of: database) else { return nil }
    self.pages = pages
    self.tree = tree
    self.isWriter = isWriter
    let pageSize = pages.pointee.state.pageSize
    pageMask = ~UInt(bitPattern: pageSize - 1)
    mostInline = pageSize / 2
  }

  /// The guard of a cursor of a transaction; nil where the engine is trusted, or has nothing to
  /// read of the file.
  static func make(
    _ slot: UnsafeMutablePointer<TransactionSlot>, _ database: Database
  ) throws(LMDBError) -> UnsafeMutablePointer<CursorGuard>? {
    guard let pages = slot.pointee.pageGuard,
      let made = try CursorGuard(pages, database, isWriter: slot.pointee.isWriter)
    else { return nil }
    // Sound: the cursor frees it.
    let pointer = UnsafeMutablePointer<CursorGuard>.allocate(capacity: 1)
    pointer.initialize(to: made)
    return pointer
  }

  /// Verifies what a put touches.
  mutating func verifyPut(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ mode: PutMode
  ) throws(LMDBError) {
    (self.key, self.value) = (0, 0)
    try pages.pointee.verifyPut(&tree, key, value, mode)
  }

  /// Verifies what a search touches.
  mutating func verifySearch(_ goal: TreeGoal, values: TreeGoal) throws(LMDBError) {
    (key, value) = (0, 0)
    try pages.pointee.verifySearch(tree, goal, values: values)
  }

  /// Verifies what a step from the present entry touches, by key without the key's other values.
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

  /// Verifies what a move to the last value of the present key touches.
  mutating func verifyLastValue(_ cursor: OpaquePointer) throws(LMDBError) {
    var key = MDB_val()
    guard mdb_cursor_get(cursor, &key, nil, MDB_GET_CURRENT) == MDB_SUCCESS else { return }
    try pages.pointee.verifySearch(tree, .key(UnsafeRawBufferPointer(key)), values: .last)
    value = 0
  }

  /// Remembers the entry that a move has come to, and checks a large value.
  @inline(__always)
  mutating func arrive(at entry: Entry) throws(LMDBError) {
    if let start = entry.key.baseAddress { key = UInt(bitPattern: start) }
    value = UInt(bitPattern: entry.value.baseAddress)
    if entry.value.count > mostInline { try pages.pointee.verifyLargeValue(entry.value, of: tree) }
  }

  /// Records the last of several values as the cursor's position.
  @inline(__always)
  mutating func arrive(atEndOf values: UnsafeRawBufferPointer) {
    value = UInt(bitPattern: values.baseAddress) &+ UInt(max(values.count, 1) - 1)
  }
}

extension TreeStep {
  fileprivate var address: UInt { UInt(bitPattern: page.bytes.baseAddress) }
}

extension UnsafeMutablePointer<CursorGuard> {
  /// Ends the guard of a cursor.
  func free() {
    deinitialize(count: 1)
    deallocate()
  }
}
