internal import CLMDB

/// The state of one transaction in addition to LMDB's own object, kept and reused by the
/// environment.
///
/// Slots live as long as their environment. `generation` increases when a transaction ends, so that
/// a cursor that is destroyed late detects it and does not affect the slot's next user.
package struct TransactionSlot {
  /// LMDB's transaction. A reader's is reset between uses, a writer's is created each time.
  var transaction: OpaquePointer?
  var generation: UInt64 = 0
  let isWriter: Bool

  // Guarded by the environment's state.
  var nextFree: SlotReference?
  var nextSlot: SlotReference?
  var thread: ThreadID?

  /// Whether the map was full, so that the closure runs again with a larger one.
  var needsGrowth = false
  /// Whether the transaction has changed anything, so that its commit creates a new state.
  var hasChanged = false
  /// Whether the transaction has deleted a database and blocks readers until it ends.
  var holdsGate = false
  /// The durability of the transaction's commit, or `nil` for that of the environment.
  var durability: EnvironmentOptions.Durability?
  /// The number of commits of this process, for the periodic check for dead readers.
  var commits = 0
  /// The number of bytes put in this transaction, for detecting a full disk.
  var bytesPut = 0

  /// The changes of the transaction to the digests of databases.
  var digests = DigestChanges()

  /// The descriptor of the data file, for querying its free space.
  var descriptor: Int32 = -1

  /// The closed read cursors by database handle, ready to be renewed, because opening one
  /// allocates.
  private var cursors: [OpaquePointer?] = []

  /// The locations of the trees of a reader's state. A writer's pages are not in the map.
  var trees = KnownTrees()

  /// The guard that verifies pages before the engine uses them, or `nil` if all are verified.
  var pageGuard: UnsafeMutablePointer<PageGuard>?

  init(isWriter: Bool) { self.isWriter = isWriter }

  /// The maximum number of databases with cached cursors. Others are opened each time.
  private static let maximumCachedCursors = 1024

  mutating func takeCursor(_ handle: UInt32) -> OpaquePointer? {
    let index = Int(handle)
    guard index < cursors.count, let cursor = cursors[index] else { return nil }
    cursors[index] = nil
    return cursor
  }

  /// Caches a cursor for the next use, or closes it.
  mutating func keepCursor(_ cursor: OpaquePointer, _ handle: UInt32) {
    let index = Int(handle)
    if index >= cursors.count, index < Self.maximumCachedCursors {
      cursors.append(contentsOf: repeatElement(nil, count: index + 1 - cursors.count))
    }
    guard index < cursors.count, cursors[index] == nil else { return mdb_cursor_close(cursor) }
    cursors[index] = cursor
  }

  /// Discards the guard, so that the engine is trusted from now on.
  mutating func dropGuard() {
    guard let guarding = pageGuard else { return }
    guarding.deinitialize(count: 1)
    guarding.deallocate()
    pageGuard = nil
  }

  mutating func closeCursors() {
    for cursor in cursors { if let cursor { mdb_cursor_close(cursor) } }
    cursors.removeAll()
  }
}

/// A reference to a slot.
///
/// `@unchecked Sendable`: a slot belongs either to the environment's state, under its lock, or to
/// the one transaction that uses it, which is used by one thread at a time.
package struct SlotReference: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<TransactionSlot>

  static func make(isWriter: Bool) -> SlotReference {
    let pointer = UnsafeMutablePointer<TransactionSlot>.allocate(capacity: 1)
    pointer.initialize(to: TransactionSlot(isWriter: isWriter))
    return SlotReference(pointer: pointer)
  }

  func free() {
    pointer.pointee.dropGuard()
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}
