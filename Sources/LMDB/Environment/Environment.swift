internal import ArborLocks
internal import CLMDB

/// An LMDB file, opened once per process.
///
/// Any number of snapshots read while one transaction writes. Limits of the engine, and what to do:
///
/// - *The file grows without bound*: a snapshot is held for long. End it; ``checkStaleReaders()``
///   frees those of dead processes.
/// - *A commit waits for ever*: another process holds the write lock. Only one transaction writes a
///   file at a time, over all processes.
/// - *The map is full*: it grows by itself, up to ``EnvironmentOptions/maximumMapSize``, but waits
///   for the snapshots of this process to end first.
/// - *Keys* have 1 to 511 bytes, as have the values of databases with duplicates.
/// - *A forked child* cannot use the environment: every begin throws ``LMDBError/forkedProcess``.
/// - *The lock file* beside the data file must never be opened, copied or removed by this process.
///
/// Two opens of one file, under whatever path, give the same environment; see
/// ``open(path:options:)``. It closes when its last reference goes.
package final class Environment: Sendable {
  /// The name and version of the engine.
  package static var libraryVersion: String {
    String(cString: mdb_version(nil, nil, nil)).prefix { $0 != ":" }.description
  }

  /// The canonical path of the data file.
  package let path: String
  /// Device and inode of the data file.
  package var identity: FileIdentity { file.identity }
  /// Whether the path still leads to the data file.
  package var isInPlace: Bool { file.isInPlace }
  package let isReadOnly: Bool
  package let options: EnvironmentOptions

  let file: DataFile
  let roots: RootPages
  let state: Lock<EnvironmentState>
  let databases = Lock(DatabaseTable())
  let changes = EventCount()
  let writerSlot = SlotReference.make(isWriter: true)
  let marks: PageMarks
  let birth = ForkGuard.generation
  /// False for a file without a lasting name: nobody else can open it.
  let isShared: Bool

  /// - Parameter handle: an open LMDB environment of the file, owned from here on.
  init(
    handle: sending OpaquePointer, file: consuming DataFile, roots: consuming RootPages,
    options: EnvironmentOptions, isShared: Bool
  ) {
    path = file.path
    self.file = file
    self.options = options
    self.isShared = isShared
    isReadOnly = options.isReadOnly || options.isImmutable
    var initial = EnvironmentState()
    initial.handle = handle
    state = Lock(initial)
    marks = PageMarks()
    self.roots = roots
    writerSlot.pointer.pointee.descriptor = self.file.descriptor
  }

  deinit {
    // In a forked child LMDB would clear the parent's reader slots: leave everything as it is.
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

  /// Closes the file now instead of with the last reference. Everything throws
  /// ``LMDBError/closed`` afterwards.
  ///
  /// - Throws: ``LMDBError/inUse`` while a transaction lives.
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

  /// Ends the idle readers and closes LMDB's environment, unless that was done before. No
  /// transaction lives.
  private func closeHandle() -> Bool {
    state.withLock { state in
      guard let handle = state.handle else { return false }
      state.endIdleReaders()
      mdb_env_close(handle)
      state.handle = nil
      // A process that replaces the file keeps it locked until the end.
      if state.gateOwner == nil { _ = file.lock(.none) }
      return true
    }
  }

  /// Ends the idle readers and gives LMDB's environment away; everything throws
  /// ``LMDBError/closed`` afterwards. No transaction lives.
  func giveHandle() -> HandleReference? {
    state.withLock { state in
      guard let handle = state.handle else { return nil }
      state.endIdleReaders()
      state.handle = nil
      return HandleReference(pointer: handle)
    }
  }

  /// Goes on with another environment's handle instead of its own, which is closed. The gate is
  /// closed.
  func takeHandle(of other: Environment) {
    guard let handle = other.giveHandle() else { return }
    writerSlot.pointer.pointee.pageGuard?.pointee.forgetMap()
    state.withLock { state in
      state.endIdleReaders()
      if let former = state.handle { mdb_env_close(former) }
      state.handle = handle.pointer
    }
  }

  /// True from the beginning of the closing on.
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

  /// Sleeps until `ready` says true under the state's lock; false after `seconds` without it.
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

  /// Visits every slot that was ever made for a reader.
  func forEachSlot(_ body: (inout TransactionSlot) -> Void) {
    var next = allSlots
    while let slot = next {
      body(&slot.pointer.pointee)
      next = slot.pointer.pointee.nextSlot
    }
  }
}
