internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Adopts the file size that another process has set. The caller must not hold a transaction of
  /// its own.
  func adoptForeignSize() throws(LMDBError) {
    try takeWriter()
    defer { releaseWriter() }
    // The previous holder of the writer lock may already have done it.
    let isNeeded = try withHandle { (handle) throws(LMDBError) -> Bool in
      let (info, used) = try Self.sizes(handle)
      return used > info.me_mapsize
    }
    if isNeeded { try growMap() }
  }

  /// Grows the map to at least twice its size, and enough for the file.
  ///
  /// The caller must be the writer without a write transaction. Waits for this process's readers.
  func growMap() throws(LMDBError) {
    try closeGate()
    defer { openGate() }
    let limit = options.maximumMapSize
    state.withLock { $0.forgetTrees() }
    writerSlot.pointer.pointee.pageGuard?.pointee.forgetMap()
    let failure = try withHandle { (handle) throws(LMDBError) -> LMDBError? in
      let (info, used) = try Self.sizes(handle)
      let target = try Self.size(after: info.me_mapsize, used: used, limit: limit)
      let code = mdb_env_set_mapsize(handle, target)
      return code == MDB_SUCCESS ? nil : LMDBError(code: code)
    }
    if let failure {
      // LMDB has already unmapped the old map.
      fail(failure)
      throw failure
    }
  }

  /// Returns the engine's map information and the number of bytes that the root page claims.
  ///
  /// - Throws: ``LMDBError/fileReplaced`` if the root page claims more than any map can hold. It
  ///   did not when the file was opened, so the file has been overwritten.
  private static func sizes(
    _ handle: OpaquePointer
  ) throws(LMDBError) -> (info: MDB_envinfo, used: Int) {
    var info = MDB_envinfo()
    try check(mdb_env_info(handle, &info))
    var statistics = MDB_stat()
    try check(mdb_env_stat(handle, &statistics))
    let pageSize = Int(statistics.ms_psize)
    guard (0..<Int(MetaPage.largestMap) / pageSize).contains(info.me_last_pgno) else {
      throw .fileReplaced
    }
    return (info, (info.me_last_pgno + 1) * pageSize)
  }

  /// Returns the next size to try: twice the current one, or less if the system lacks address
  /// space.
  private static func size(after current: Int, used: Int, limit: Int) throws(LMDBError) -> Int {
    let needed = roundedDown(used + growthStep - 1)
    let least = max(needed, current + growthStep)
    var target = roundedDown(min(max(current, used) * 2, max(limit, needed)))
    while target >= least {
      if isAddressSpaceFree(target) { return target }
      target = roundedDown(current + (target - current) / 2)
    }
    throw .mapFull
  }

  private static func roundedDown(_ size: Int) -> Int { size & ~(growthStep - 1) }

  /// A multiple of every page size.
  private static var growthStep: Int { 1 << 16 }

  /// Returns whether the address space has room for a map. Checked beforehand, because LMDB unmaps
  /// the old map first and cannot undo that.
  private static func isAddressSpaceFree(_ size: Int) -> Bool {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let probe = mmap(nil, size, PROT_NONE, flags, -1, 0), probe != MAP_FAILED else {
      return false
    }
    munmap(probe, size)
    return true
  }

  /// Blocks new readers and waits until no transaction is reading. The caller must be the writer.
  ///
  /// - Throws: ``LMDBError/growthBlocked`` if a reader cannot end before this returns.
  func closeGate() throws(LMDBError) {
    let me = ThreadID.current
    try state.withLock { (state) throws(LMDBError) in
      if state.activeReaders > 0, state.readers(of: me) > 0 { throw .growthBlocked }
      state.gateOwner = me
    }
    do throws(LMDBError) {
      let isDrained = try wait(seconds: options.growthWaitLimit) {
        (state) throws(LMDBError) -> Bool in
        if state.activeReaders == 0 { return true }
        if state.activeReaders <= state.blockedReaders { throw .growthBlocked }
        return false
      }
      if !isDrained { throw .growthBlocked }
    } catch {
      openGate()
      throw error
    }
  }

  func openGate() {
    let isAwaited = state.withLock { state in
      state.gateOwner = nil
      return state.sleepers > 0
    }
    if isAwaited { changes.notify() }
  }
}
