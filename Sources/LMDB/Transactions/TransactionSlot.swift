internal import CLMDB

/// What one transaction needs beside LMDB's own object, kept and reused by the environment.
///
/// Slots live as long as their environment. `generation` grows when a transaction ends, so a cursor
/// that is destroyed late notices and does not disturb the slot's next user.
package struct TransactionSlot {
  /// LMDB's transaction: for a reader reset between uses, for the writer fresh each time.
  var transaction: OpaquePointer?
  var generation: UInt64 = 0
  let isWriter: Bool

  // Guarded by the environment's state.
  var nextFree: SlotReference?
  var nextSlot: SlotReference?
  var thread: ThreadID?

  /// The writer met a full map: the closure runs again in a larger one.
  var needsGrowth = false
  /// The transaction has changed something, so that its commit makes another state.
  var hasChanged = false
  /// The transaction deleted a database and keeps readers out until it ends.
  var holdsGate = false
  /// What the transaction's commit waits for; nil for what the environment's do.
  var durability: EnvironmentOptions.Durability?
  /// Commits of this process, to look for dead readers now and then.
  var commits = 0
  /// Bytes that were put in this transaction, to tell whether the disk is full.
  var bytesPut = 0

  /// What the transaction changes of the digests of databases.
  var digests = DigestChanges()

  /// The data file, to ask for its free space.
  var descriptor: Int32 = -1

  /// Closed read cursors by database handle, ready to be renewed: opening one allocates.
  private var cursors: [OpaquePointer?] = []

  /// Where a reader finds the trees of its state; a writer's pages are not in the map.
  var trees = KnownTrees()

  /// Verifies pages before the engine uses them; nil where all are verified.
  var pageGuard: UnsafeMutablePointer<PageGuard>?

  init(isWriter: Bool) { self.isWriter = isWriter }

  /// Cursors are kept for so many databases; others are opened each time.
  private static let mostCachedCursors = 1024

  mutating func takeCursor(_ handle: UInt32) -> OpaquePointer? {
    let index = Int(handle)
    guard index < cursors.count, let cursor = cursors[index] else { return nil }
    cursors[index] = nil
    return cursor
  }

  /// Keeps a cursor for the next use, or closes it.
  mutating func keepCursor(_ cursor: OpaquePointer, _ handle: UInt32) {
    let index = Int(handle)
    if index >= cursors.count, index < Self.mostCachedCursors {
      cursors.append(contentsOf: repeatElement(nil, count: index + 1 - cursors.count))
    }
    guard index < cursors.count, cursors[index] == nil else { return mdb_cursor_close(cursor) }
    cursors[index] = cursor
  }

  /// From now on the engine is trusted.
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

/// The address of a slot.
///
/// `@unchecked Sendable`: a slot belongs either to the environment's state, under its lock, or to
/// the one transaction that was given it; a transaction is used by one thread at a time.
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
