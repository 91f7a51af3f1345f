internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Runs `body` in a write transaction on this thread. Commits when it returns; aborts if it
  /// throws.
  ///
  /// If the map is full, the transaction is aborted, the map grows and `body` runs *again*, so it
  /// must not change anything but the file. Waits for the write transaction of any other thread or
  /// process.
  ///
  /// - Throws: Errors of `body`; ``LMDBError/busy(_:)`` if another transaction doesn't end in time; ``LMDBError/diskFull`` and other failures of the commit, after
  ///   which nothing of the transaction is in the file; ``LMDBError/fileReplaced`` if the path no
  ///   longer refers to this file, or another program has overwritten it;
  ///   ``LMDBError/growthBlocked`` if growth would have to wait for a snapshot of this thread;
  ///   ``LMDBError/nestedWrite``.
  @discardableResult
  package func write<R>(_ body: (borrowing WriteTransaction) throws -> R) throws -> R {
    var result: Result<R, any Error>?
    try runWrite { transaction in
      do {
        result = .success(try body(transaction))
        return true
      } catch {
        result = .failure(error)
        return false
      }
    }
    guard let result else { throw LMDBError.badTransaction }
    return try result.get()
  }

  /// Does the same as ``write(_:)`` for a closure that only throws errors of the engine.
  func commit<R>(
    _ body: (borrowing WriteTransaction) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    do { return try write(body) } catch { throw error as? LMDBError ?? .badTransaction }
  }

  /// Runs `body` like ``write(_:)`` and commits if it returns `true`. `body` stores its result
  /// itself.
  ///
  /// - Parameter beforeOthers: Called once the transaction has ended, before a thread of this process
  ///   or of another one that passes the gate can begin the next one; also called before the map
  ///   grows and `body` runs again.
  /// - Throws: Only errors of beginning and committing.
  package func runWrite(
    _ body: (borrowing WriteTransaction) -> Bool, beforeOthers: () -> Void = {}
  ) throws(LMDBError) {
    if isReadOnly { throw .readOnlyEnvironment }
    let gate = try beginWriting()
    defer {
      beforeOthers()
      releaseWriter()
      gate?.leave()
    }
    while true {
      try beginWrite()
      let transaction = WriteTransaction(environment: self)
      let wantsCommit = body(transaction)
      let needsGrowth = writerSlot.pointer.pointee.needsGrowth
      if wantsCommit, !needsGrowth {
        if try commitWrite() { return }
        continue
      }
      try abortWrite()
      if !needsGrowth { return }
      // Growing may wait for threads that wait for this one.
      beforeOthers()
      try growMap()
    }
  }

  /// Runs `body`, in which this thread waits for writes of other threads. While it runs, growing
  /// the map throws ``LMDBError/growthBlocked`` instead of waiting for the snapshots of this
  /// thread.
  package func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
    let mine = blockReaders()
    defer { unblockReaders(mine) }
    return try body()
  }

  /// Whether this process has committed a transaction. Must not be read during a write.
  package var hasCommitted: Bool { writerSlot.pointer.pointee.commits > 0 }

  // MARK: The gate

  /// Passes the gate for the next transaction of this thread, which then doesn't have to wait for
  /// other processes. Has no effect for a file that no other process can open.
  ///
  /// - Parameter isAbandoned: Called repeatedly while waiting; returns whether to stop.
  /// - Throws: ``LMDBError/abandoned`` if the closure has returned `true`; ``LMDBError/busy(_:)`` if
  ///   another transaction doesn't end within ``EnvironmentOptions/busyTimeout``;
  ///   ``LMDBError/nestedWrite``.
  package func enterGate(unless isAbandoned: () -> Bool) throws(LMDBError) {
    if !isReadOnly { _ = try passGate(unless: isAbandoned) }
  }

  /// Leaves the gate, if this thread has entered it and no transaction followed.
  package func leaveGate() {
    guard let gate = state.withLock(\.writerGate), gate.isHeldByThisThread else { return }
    gate.leave()
  }

  /// The process that is writing, or this one if the gate doesn't name another one.
  package var busyWriter: BusyWriter {
    state.withLock(\.writerGate)?.writer ?? BusyWriter(processID: getpid(), since: 0)
  }

  /// Passes the gate and becomes the writer of this process.
  private func beginWriting() throws(LMDBError) -> WriterGate? {
    while true {
      let gate = try passGate { false }
      do throws(LMDBError) { try takeWriter() } catch {
        gate?.leave()
        throw error
      }
      // Compaction may have replaced the lock file.
      if state.withLock({ $0.writerGate === gate }) { return gate }
      releaseWriter()
      gate?.leave()
    }
  }

  private func passGate(unless isAbandoned: () -> Bool) throws(LMDBError) -> WriterGate? {
    if birth != ForkGuard.generation { throw .forkedProcess }
    let me = ThreadID.current
    let (passed, isWriting) = try state.withLock {
      (state) throws(LMDBError) -> (WriterGate?, Bool) in
      try state.checkOpen()
      return (state.writerGate, state.writer == me)
    }
    if isWriting { throw .nestedWrite }
    guard let gate = passed else { return nil }
    if gate.isHeldByThisThread { return gate }
    if try gate.enter(within: 0) { return gate }
    let mine = blockReaders()
    defer { unblockReaders(mine) }
    var end = options.busyTimeout.map { Self.uptime + $0 }
    while true {
      let left = end.map { ($0 - Self.uptime) * 1000 } ?? Self.gateStep
      if try gate.enter(within: UInt32(max(1, min(left, Self.gateStep)))) { return gate }
      try state.withLock { (state) throws(LMDBError) in try state.checkOpen() }
      if isAbandoned() { throw .abandoned }
      guard let latest = end, Self.uptime >= latest else { continue }
      // It may have been released at this moment.
      if let writer = gate.writer { throw .busy(writer) }
      end = latest + Self.gateStep / 1000
    }
  }

  /// The time in milliseconds after which a thread that waits for the gate looks around.
  private static var gateStep: Double { 20 }

  /// The time of a monotonic clock in seconds.
  static var uptime: Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }

  // MARK: The writer's lock within the process

  /// Makes this thread the writer, waiting for the current one if necessary.
  func takeWriter() throws(LMDBError) {
    if birth != ForkGuard.generation { throw .forkedProcess }
    let me = ThreadID.current
    let isMine = try state.withLock { (state) throws(LMDBError) -> Bool in
      try state.checkOpen()
      if state.writer == me { throw .nestedWrite }
      if state.writer != nil { return false }
      state.writer = me
      return true
    }
    if isMine { return }
    let mine = blockReaders()
    defer { unblockReaders(mine) }
    _ = try wait(seconds: nil) { (state) throws(LMDBError) -> Bool in
      try state.checkOpen()
      if state.writer != nil { return false }
      state.writer = me
      return true
    }
  }

  func releaseWriter() {
    let isAwaited = state.withLock { state in
      state.writer = nil
      return state.sleepers > 0
    }
    if isAwaited { changes.notify() }
  }

  private func blockReaders() -> Int {
    let me = ThreadID.current
    let mine = state.withLock { state in
      let mine = state.activeReaders == 0 ? 0 : state.readers(of: me)
      state.blockedReaders += mine
      return mine
    }
    // Wakes a thread that waits to grow the map, because it must not wait for this thread.
    if mine > 0 { changes.notify() }
    return mine
  }

  private func unblockReaders(_ count: Int) {
    if count > 0 { state.withLock { $0.blockedReaders -= count } }
  }

  /// The number of commits between checks for dead readers: often enough that the file does not
  /// grow because of them for long, and rarely enough to cost nothing.
  private static var commitsBetweenChecks: Int { 1000 }

  // MARK: Begin, commit, abort; all on the thread that holds the writer's lock

  private func beginWrite() throws(LMDBError) {
    let slot = writerSlot.pointer
    slot.pointee.needsGrowth = false
    slot.pointee.hasChanged = false
    slot.pointee.bytesPut = 0
    slot.pointee.durability = nil
    slot.pointee.digests.removeAll()
    while true {
      let handle = try withHandle { HandleReference(pointer: $0) }
      let code = mdb_txn_begin(handle.pointer, nil, 0, &slot.pointee.transaction)
      switch code {
      case MDB_SUCCESS:
        // No other commit can happen now, so the root page must be that of the last transaction.
        let state = mdb_txn_id(slot.pointee.transaction) &- 1
        do throws(LMDBError) {
          guard roots.hold(state), guardPages(of: writerSlot, in: state) else {
            throw .fileReplaced
          }
          return try verifyFreeLists(of: state)
        } catch {
          mdb_txn_abort(slot.pointee.transaction)
          slot.pointee.transaction = nil
          throw error
        }
      case MDB_MAP_RESIZED: try growMap()
      case MDB_PANIC:
        fail(.panic)
        throw .panic
      default: throw LMDBError(code: code)
      }
    }
  }

  /// Commits the transaction. Returns `false` if the map had to grow, so that the closure has to
  /// run again.
  private func commitWrite() throws(LMDBError) -> Bool {
    let slot = writerSlot.pointer
    slot.pointee.generation &+= 1
    let transaction = slot.pointee.transaction
    slot.pointee.transaction = nil
    guard !isShared || file.isInPlace else {
      // Data written now would be lost when the file's last opener closes it.
      mdb_txn_abort(transaction)
      try finishDatabases(isCommitted: false)
      throw .fileReplaced
    }
    let code = commitTransaction(transaction, waitingFor: slot.pointee.durability)
    try finishDatabases(isCommitted: code == MDB_SUCCESS)
    if code == MDB_SUCCESS {
      slot.pointee.commits &+= 1
      if slot.pointee.hasChanged { slot.pointee.pageGuard?.pointee.noteCommit() }
      // The commit has succeeded, so an error here is ignored.
      if slot.pointee.commits % Self.commitsBetweenChecks == 0 { _ = try? checkStaleReaders() }
      return true
    }
    if code == MDB_MAP_FULL {
      try growMap()
      return false
    }
    noticePanic()
    throw DiskSpace(descriptor: file.descriptor)
      .explain(LMDBError(code: code), bytes: slot.pointee.bytesPut)
  }

  /// Commits in LMDB. Durability is a setting of LMDB's environment, so a transaction with a
  /// different one changes it for the duration of its commit. Only the thread that holds the writer
  /// lock commits.
  private func commitTransaction(
    _ transaction: OpaquePointer?, waitingFor durability: EnvironmentOptions.Durability?
  ) -> Int32 {
    let usual = Self.syncFlags(options.durability)
    let wanted = Self.syncFlags(durability ?? options.durability)
    // Commits to a temporary file never wait.
    guard wanted != usual, options.durability != .none else { return mdb_txn_commit(transaction) }
    let handle = mdb_txn_env(transaction)
    mdb_env_set_flags(handle, usual, 0)
    mdb_env_set_flags(handle, wanted, 1)
    defer {
      mdb_env_set_flags(handle, wanted, 0)
      mdb_env_set_flags(handle, usual, 1)
    }
    return mdb_txn_commit(transaction)
  }

  private func abortWrite() throws(LMDBError) {
    let slot = writerSlot.pointer
    slot.pointee.generation &+= 1
    mdb_txn_abort(slot.pointee.transaction)
    slot.pointee.transaction = nil
    try finishDatabases(isCommitted: false)
  }

  /// Records a panic after a failed commit: LMDB refuses to continue if the root page on disk is
  /// uncertain.
  private func noticePanic() {
    state.withLock { state in
      guard let handle = state.handle else { return }
      var probe: OpaquePointer?
      let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
      if code == MDB_SUCCESS { mdb_txn_abort(probe) }
      if code == MDB_PANIC { state.failure = .panic }
    }
  }
}
