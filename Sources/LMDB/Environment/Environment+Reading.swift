internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Begins an MVCC snapshot, which shows the state of the last commit until it ends.
  ///
  /// Idle snapshots are kept and renewed, so this costs about 50 ns. A snapshot may move to another
  /// thread but must be used by one at a time. It ends when the value is destroyed. Until then the
  /// pages it sees are not reused, so end it soon.
  ///
  /// Waits only while the map grows.
  ///
  /// - Throws: In addition to LMDB's own codes, ``LMDBError/fileReplaced`` if another program has
  ///   overwritten the file; ``LMDBError/closed``; ``LMDBError/forkedProcess``.
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if birth != ForkGuard.generation { throw .forkedProcess }
    let slot = try admit()
    if let transaction = slot.pointer.pointee.transaction, mdb_txn_renew(transaction) == MDB_SUCCESS
    {
      if showsItsRoot(slot) { return ReadTransaction(environment: self, slot: slot) }
      mdb_txn_reset(transaction)
    }
    return try beginSlowly(slot)
  }

  /// Runs `body` on a snapshot and ends it. Data that `body` reads from the snapshot must not
  /// outlive it.
  @discardableResult
  package func read<R: ~Copyable>(
    _ body: (borrowing ReadTransaction) throws -> R
  ) throws -> R {
    let transaction = try beginRead()
    return try body(transaction)
  }

  /// Ends a reader and returns its slot to the pool.
  @inline(__always)
  func endRead(_ slot: SlotReference) {
    guard birth == ForkGuard.generation else { return }
    slot.pointer.pointee.generation &+= 1
    if let transaction = slot.pointer.pointee.transaction { mdb_txn_reset(transaction) }
    dismiss(slot)
  }

  private func dismiss(_ slot: SlotReference) {
    if state.withLock({ $0.dismissReader(slot) }) { changes.notify() }
  }

  /// Takes a slot, waiting while the gate is closed.
  @inline(__always)
  private func admit() throws(LMDBError) -> SlotReference {
    let me = ThreadID.current
    let admitted = try state.withLock { (state) throws(LMDBError) -> SlotReference? in
      try state.admitReader(me)
    }
    if let admitted { return admitted }
    return try admitLater(me)
  }

  private func admitLater(_ me: ThreadID) throws(LMDBError) -> SlotReference {
    while true {
      var slot: SlotReference?
      _ = try wait(seconds: nil) { (state) throws(LMDBError) -> Bool in
        slot = try state.admitReader(me)
        return slot != nil
      }
      if let slot { return slot }
    }
  }

  /// Returns whether a transaction that has just begun reads from the root page with its number. If
  /// so, its slot discards the trees of other states.
  @inline(__always)
  private func showsItsRoot(_ slot: SlotReference) -> Bool {
    let id = mdb_txn_id(slot.pointer.pointee.transaction)
    guard roots.hold(id) else { return false }
    slot.pointer.pointee.trees.turn(toStateOf: id)
    return guardPages(of: slot, in: id)
  }

  /// The maximum number of attempts to begin a snapshot. Two commits may happen while it begins,
  /// but if all attempts fail for that reason, the file was overwritten.
  private static var maximumMissedRoots: Int { 100 }

  /// Begins a snapshot on a slot that has no transaction, or whose renewal LMDB refused. Removes
  /// the cause if possible.
  private func beginSlowly(_ slot: SlotReference) throws(LMDBError) -> ReadTransaction {
    var slot = slot
    var hasCheckedReaders = false
    var rootsMissed = 0
    while true {
      let code = beginOrRenew(slot)
      switch code {
      case MDB_SUCCESS:
        if showsItsRoot(slot) { return ReadTransaction(environment: self, slot: slot) }
        mdb_txn_reset(slot.pointer.pointee.transaction)
        rootsMissed += 1
        guard rootsMissed < Self.maximumMissedRoots else {
          dismiss(slot)
          throw .fileReplaced
        }
        sched_yield()
      case MDB_READERS_FULL where !hasCheckedReaders:
        hasCheckedReaders = true
        var dead: Int32 = 0
        _ = state.withLock { state in state.handle.map { mdb_reader_check($0, &dead) } }
      case MDB_MAP_RESIZED:
        // The map cannot move while this slot is in use, so release it first.
        dismiss(slot)
        try adoptForeignSize()
        slot = try admit()
      default:
        if code == MDB_PANIC { fail(.panic) }
        dismiss(slot)
        throw LMDBError(code: code)
      }
    }
  }

  private func beginOrRenew(_ slot: SlotReference) -> Int32 {
    if let transaction = slot.pointer.pointee.transaction { return mdb_txn_renew(transaction) }
    // Admitted readers prevent the environment from closing, so the handle outlives the lock.
    guard let handle = state.withLock({ $0.handle.map { HandleReference(pointer: $0) } }) else {
      return MDB_BAD_TXN
    }
    return mdb_txn_begin(handle.pointer, nil, UInt32(MDB_RDONLY), &slot.pointer.pointee.transaction)
  }

  /// Prevents new transactions until the file is opened again.
  func fail(_ error: LMDBError) {
    state.withLock { state in if state.failure == nil { state.failure = error } }
  }
}

/// LMDB's environment, used outside the lock by a transaction that keeps it open.
///
/// `@unchecked Sendable`: `MDB_env` may be used by all threads; closing it and moving its map wait
/// for every transaction.
struct HandleReference: @unchecked Sendable {
  let pointer: OpaquePointer
}
