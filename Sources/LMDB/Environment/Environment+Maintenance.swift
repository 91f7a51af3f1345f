internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Returns the sizes, the readers and the last commit of the file. Cheap.
  package func info() throws(LMDBError) -> EnvironmentInfo {
    try withHandle { (handle) throws(LMDBError) -> EnvironmentInfo in
      var info = MDB_envinfo()
      var statistics = MDB_stat()
      try check(mdb_env_info(handle, &info))
      try check(mdb_env_stat(handle, &statistics))
      return EnvironmentInfo(
        mapSize: info.me_mapsize, pageSize: Int(statistics.ms_psize), lastPage: info.me_last_pgno,
        lastTransactionID: UInt64(bitPattern: Int64(info.me_last_txnid)),
        maximumReaders: Int(info.me_maxreaders), readers: Int(info.me_numreaders),
        maximumKeySize: Int(mdb_env_get_maxkeysize(handle)))
    }
  }

  /// The number of the last committed transaction of any process. Cheap enough to read before every
  /// operation.
  package var lastTransactionID: UInt64 {
    get throws(LMDBError) {
      try withHandle { (handle) throws(LMDBError) -> UInt64 in
        var info = MDB_envinfo()
        try check(mdb_env_info(handle, &info))
        return UInt64(bitPattern: Int64(info.me_last_txnid))
      }
    }
  }

  /// Returns the statistics of a database as of the last commit.
  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    let transaction = try beginRead()
    return try transaction.reader.statistics(database)
  }

  /// Returns the number of free pages as of a snapshot. Scans the free list.
  func freePageCount(in reader: TransactionReader) throws(LMDBError) -> Int {
    try replacedPages(in: reader).reduce(0) { $0.addingReportingOverflow($1.count).partialValue }
  }

  /// Returns the number of pages that each transaction has freed and that have not been reused yet.
  func replacedPages(
    in reader: TransactionReader
  ) throws(LMDBError) -> [(transactionID: UInt64, count: Int)] {
    try verifyFreeLists(of: Int(reader.id))
    let cursor = try reader.cursor(Self.freeList)
    var list: [(transactionID: UInt64, count: Int)] = []
    // A damaged list may claim any number of pages.
    while let entry = try cursor.next() {
      list.append((entry.integerKey, min(Int(clamping: entry.integerValue), 1 << 40)))
    }
    return list
  }

  /// Returns the page use of the file as of a snapshot. Scans the free list.
  package func pageUse(in reader: TransactionReader) throws(LMDBError) -> PageUse {
    let free = try freePageCount(in: reader)
    let list = try reader.statistics(Self.freeList)
    let info = try info()
    return PageUse(
      fileSize: try file.size, pageSize: info.pageSize, all: info.lastPage + 1, free: free,
      list: list.branchPages + list.leafPages + list.overflowPages,
      depth: try reader.statistics(.unnamed).depth)
  }

  /// Returns the number of pages that the last commit has freed, which the engine may reuse after
  /// the next one. Cheap.
  package func pagesFreedByLastCommit() throws(LMDBError) -> Int {
    let transaction = try beginRead()
    try verifyFreeLists(of: Int(transaction.id))
    let cursor = try transaction.reader.cursor(Self.freeList)
    guard let entry = try cursor.last(), entry.integerKey == transaction.id else { return 0 }
    return Int(clamping: entry.integerValue)
  }

  /// The free list, a database of LMDB's own: transaction → count, then page numbers.
  private static var freeList: Database { Database(name: "", handle: 0, flags: .integerKey) }

  /// Frees the reader slots of dead processes and returns their number. Unless they are freed, the
  /// file grows, because pages that such a reader could still see are not reused.
  @discardableResult
  package func checkStaleReaders() throws(LMDBError) -> Int {
    try withHandle { (handle) throws(LMDBError) -> Int in
      var dead: Int32 = 0
      try check(mdb_reader_check(handle, &dead))
      return Int(dead)
    }
  }

  /// Returns the occupied reader slots of all processes.
  package func readers() throws(LMDBError) -> [ReaderInfo] {
    try withHandle { (handle) throws(LMDBError) -> [ReaderInfo] in
      var lines: [String] = []
      // Memory safety: LMDB calls the closure only during this call, with the address of this
      // frame's array.
      let code = withUnsafeMutablePointer(to: &lines) { pointer in
        mdb_reader_list(
          handle,
          { text, context in
            guard let text, let context else { return 0 }
            context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: text))
            return 0
          }, pointer)
      }
      if code < 0 { throw LMDBError(code: code) }
      return lines.compactMap(ReaderInfo.init(line:))
    }
  }

  /// Writes a consistent copy of the last commit to a new file, which must not exist yet.
  ///
  /// Readers and writers continue. The file cannot shrink or move its map during the copy.
  ///
  /// - Parameters:
  ///   - compacting: Whether to omit free pages and renumber the others, which is slower.
  ///   - isUnfinished: Whether the target is an existing ``UnfinishedFile`` of the caller.
  /// - Throws: ``LMDBError/system(errno:)`` with `EEXIST` if the target exists;
  ///   ``LMDBError/diskFull``. No file is left at the target in that case.
  package func copy(
    to target: String, compacting: Bool, isUnfinished: Bool = false
  ) throws(LMDBError) {
    let descriptor = try DataFile.createDescriptor(target, mustBeNew: !isUnfinished)
    do throws(LMDBError) {
      try copy(into: descriptor, compacting: compacting)
      if fsync(descriptor) != 0 { throw .lastSystemError }
    } catch {
      let reason = DiskSpace(descriptor: descriptor).explain(error, bytes: 0)
      DataFile.closeDescriptor(descriptor)
      unlink(target)
      throw reason
    }
    DataFile.closeDescriptor(descriptor)
  }

  /// Copies under its own snapshot, which keeps the map in place.
  private func copy(into descriptor: Int32, compacting: Bool) throws(LMDBError) {
    let flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
    // The engine descends every tree.
    if compacting, !marks.areComplete { try verifyPages() }
    while true {
      let code: Int32
      do {
        let snapshot = try beginRead()
        let handle = try withHandle { HandleReference(pointer: $0) }
        code = mdb_env_copyfd2(handle.pointer, descriptor, flags)
        _ = snapshot.id
      }
      if code != MDB_MAP_RESIZED { return try check(code) }
      // Another process has grown the file since the snapshot began. Start again.
      try adoptForeignSize()
      if ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0 {
        throw .lastSystemError
      }
    }
  }

  /// Waits until all commits are on the medium, regardless of the durability.
  package func synchronize() throws(LMDBError) {
    try takeWriter()
    defer { releaseWriter() }
    let handle = try withHandle { HandleReference(pointer: $0) }
    try check(mdb_env_sync(handle.pointer, 1))
  }
}

extension ReaderInfo {
  /// Parses a line of LMDB's reader list: process, thread and transaction. Returns `nil` for any
  /// other line.
  init?(line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count == 3, let process = Int32(words[0]) else { return nil }
    processID = process
    transactionID = UInt64(words[2])
  }
}
