internal import ArborLocks
internal import CLMDB

/// An LMDB file, opened once per process.
///
/// LMDB is a copy-on-write B+ tree with MVCC: any number of snapshots can read while one
/// transaction writes. Limits of the engine and their remedies:
///
/// - *The file grows without bound*: A snapshot is held for a long time. End it;
///   ``checkStaleReaders()`` frees those of dead processes.
/// - *A commit waits*: Another process holds the write lock. Only one transaction can write to a
///   file at a time, across all processes. The wait ends after ``EnvironmentOptions/busyTimeout``.
/// - *The map is full*: It grows by itself, up to ``EnvironmentOptions/maximumMapSize``, but waits
///   for the snapshots of this process to end first.
/// - *Keys* have 1 to 511 bytes, as do the values of databases with duplicates.
/// - *A forked child* cannot use the environment: every begin throws ``LMDBError/forkedProcess``.
/// - *The lock file* next to the data file must never be opened, copied or removed by this process.
///
/// Opening the same file twice, under any path, returns the same environment; see
/// ``open(path:options:)``. It closes when its last reference is released.
package final class Environment: Sendable {
  /// The name and version of the engine.
  package static var libraryVersion: String {
    String(cString: mdb_version(nil, nil, nil)).prefix { $0 != ":" }.description
  }

  /// The canonical path of the data file.
  package let path: String
  /// The device and inode of the data file.
  package var identity: FileIdentity { file.identity }
  /// Whether the path still refers to the data file.
  package var isInPlace: Bool { file.isInPlace }
  package let isReadOnly: Bool
  package let options: EnvironmentOptions

  let file: DataFile
  let roots: RootPages
  let state: Lock<EnvironmentState>
  let databases = Lock(DatabaseTable())
  let changes = EventCount()
  /// The period in which this process has taken the turn, or `nil` if it doesn't have it. See
  /// ``takeTurn()``.
  let turn = Lock<Int?>(nil)
  let writerSlot = SlotReference.make(isWriter: true)
  let marks: PageMarks
  let birth = ForkGuard.generation
  /// Whether other processes can open the file. `false` for a file without a permanent name.
  let isShared: Bool

  /// - Parameter handle: An open LMDB environment of the file, whose ownership is transferred.
  init(
    handle: sending OpaquePointer, file: consuming DataFile, roots: consuming RootPages,
    options: EnvironmentOptions, gate: WriterGate?, isShared: Bool
  ) {
    path = file.path
    self.file = file
    self.options = options
    self.isShared = isShared
    isReadOnly = options.isReadOnly || options.isImmutable
    var initial = EnvironmentState()
    initial.handle = handle
    initial.writerGate = gate
    state = Lock(initial)
    marks = PageMarks()
    self.roots = roots
    writerSlot.pointer.pointee.descriptor = self.file.descriptor
  }

  deinit {
    // In a forked child, LMDB would clear the parent's reader slots, so leave everything as it is.
    guard birth == ForkGuard.generation else { return }
    closeOnce()
    state.withLock { state in
      while let slot = state.allSlots {
        state.allSlots = slot.pointer.pointee.nextSlot
        slot.free()
      }
    }
    writerSlot.free()
  }

  /// Closes the file now instead of with the last reference. All operations throw
  /// ``LMDBError/closed`` afterwards.
  ///
  /// - Throws: ``LMDBError/inUse`` if a transaction is alive.
  package func close() throws(LMDBError) {
    if birth != ForkGuard.generation { throw .forkedProcess }
    let me = ThreadID.current
    let isFree = state.withLock { state in
      if state.handle == nil { return true }
      guard state.activeReaders == 0, state.writer == nil || state.gateOwner == me else {
        return false
      }
      state.failure = .closed
      return true
    }
    guard isFree else { throw .inUse }
    closeOnce()
  }

  private func closeOnce() {
    if isShared {
      EnvironmentRegistry.shared.remove(identity) { closeHandle() }
    } else {
      _ = closeHandle()
    }
  }

  /// Ends the idle readers and closes LMDB's environment. Returns `false` if it is already closed.
  /// No transaction may be alive.
  private func closeHandle() -> Bool {
    state.withLock { state in
      guard let handle = state.handle else { return false }
      state.endIdleReaders()
      state.endPins()
      mdb_env_close(handle)
      state.handle = nil
      // A process that replaces the file keeps it locked until the end.
      if state.gateOwner == nil { _ = file.lock(.none) }
      return true
    }
  }

  /// Ends the idle readers and returns LMDB's environment with its gate, or `nil` if it is closed.
  /// All operations throw ``LMDBError/closed`` afterwards. No transaction may be alive.
  func giveHandle() -> (HandleReference, WriterGate?)? {
    state.withLock { state in
      guard let handle = state.handle else { return nil }
      state.endIdleReaders()
      state.endPins()
      state.handle = nil
      return (HandleReference(pointer: handle), state.writerGate)
    }
  }

  /// Closes this environment's handle and continues with that of another environment. The gate must
  /// be closed.
  func takeHandle(of other: Environment) {
    guard let (handle, gate) = other.giveHandle() else { return }
    writerSlot.pointer.pointee.pageGuard?.pointee.forgetMap()
    state.withLock { state in
      state.endIdleReaders()
      state.endPins()
      if let former = state.handle { mdb_env_close(former) }
      state.handle = handle.pointer
      state.writerGate = gate
    }
  }

  /// A Boolean value that indicates whether the environment is closed or has begun to close.
  var isClosed: Bool { state.withLock { $0.handle == nil || $0.failure == .closed } }

  /// Runs `body` with LMDB's environment, which can neither close nor move its map meanwhile.
  func withHandle<R: Sendable>(
    _ body: (OpaquePointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    if birth != ForkGuard.generation { throw .forkedProcess }
    return try state.withLock { (state) throws(LMDBError) -> R in
      guard let handle = state.handle else { throw .closed }
      return try body(handle)
    }
  }

  /// Waits until `ready` returns `true` under the state's lock. Returns `false` if that takes more
  /// than `seconds`.
  func wait(
    seconds: Double?, _ ready: (inout EnvironmentState) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Bool {
    let deadline = seconds.map { EventCount.deadline(in: $0) }
    while true {
      let token = changes.token
      let isReady = try state.withLock { (state) throws(LMDBError) -> Bool in
        if try ready(&state) { return true }
        state.sleepers += 1
        return false
      }
      if isReady { return true }
      let isAwake = changes.wait(past: token, until: deadline)
      state.withLock { $0.sleepers -= 1 }
      if !isAwake { return false }
    }
  }
}

extension EnvironmentState {
  /// Ends the transactions that are kept for the next readers.
  func endIdleReaders() {
    forEachSlot { slot in
      slot.closeCursors()
      if let transaction = slot.transaction { mdb_txn_abort(transaction) }
      slot.transaction = nil
      slot.trees.forget()
      slot.pageGuard?.pointee.forgetMap()
    }
  }

  /// Visits every reader slot ever created.
  func forEachSlot(_ body: (inout TransactionSlot) -> Void) {
    var next = allSlots
    while let slot = next {
      body(&slot.pointer.pointee)
      next = slot.pointer.pointee.nextSlot
    }
  }
}
