internal import ArborLocks

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Replaces the file with a copy without free pages and continues with it.
  ///
  /// Snapshots may begin and end until the copy is complete. Then this waits for the snapshots of
  /// this process to end. Throughout the call, no other thread or process can write, and no other
  /// process can open the file. Databases and everything else created from this environment stay
  /// valid, and transaction numbers continue. If the process is killed, the path refers to one of
  /// the two files, and that file is complete.
  ///
  /// - Parameters:
  ///   - staged: An empty file in the same directory.
  ///   - finish: The last transaction of the copy before it replaces the file. It may run more than
  ///     once.
  /// - Throws: ``LMDBError/inUse`` if another process has the file open, or a snapshot of this one
  ///   does not end; ``LMDBError/diskFull``; ``LMDBError/readOnlyEnvironment``; errors of `finish`.
  ///   The file is unchanged in all of these cases. After a system error, the path may already
  ///   refer to the copy.
  /// - Precondition: The file has a permanent name.
  package func compact(
    by staged: borrowing UnfinishedFile,
    finish: (borrowing WriteTransaction) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    if isReadOnly { throw .readOnlyEnvironment }
    try takeWriter()
    defer { releaseWriter() }
    try lockFile()
    defer { _ = file.lock(.shared) }
    let last = try lastTransactionID
    try copy(to: staged.path, compacting: true, isUnfinished: true)
    let next = try openCopy(staged.path, after: last)
    defer { try? next.close() }
    try next.openDatabases(like: self, finish)
    try next.synchronize()
    try staged.excludeOpeners()
    try adopt(next)
  }

  /// Opens the copy with transaction numbers that continue those of this file, so that no number is
  /// ever used for two transactions.
  private func openCopy(_ copy: String, after last: UInt64) throws(LMDBError) -> Environment {
    do {
      let descriptor = try DataFile.createDescriptor(copy, mustBeNew: false)
      defer { DataFile.closeDescriptor(descriptor) }
      try MetaPages.raise(descriptor, above: last)
    }
    let found = try DataFile(
      path: copy, create: false, allowsNetwork: options.allowsNetworkFileSystem, lock: .shared)
    var wanted = options
    wanted.isFolder = false
    wanted.initialMapSize = try info().mapSize
    // Handles are the same in the copy, which lacks deleted databases.
    wanted.additionalDatabases += databases.withLock { Int($0.all.last?.handle ?? 0) }
    return try Self.openAlone(found, wanted)
  }

  /// Opens the databases that another environment has open, with the same handles.
  ///
  /// LMDB assigns the lowest free handle. Handles of deleted databases are temporarily taken by
  /// placeholder databases.
  private func openDatabases(
    like other: Environment, _ finish: (borrowing WriteTransaction) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let list = other.databases.withLock { $0.all }
    var fillers: [Database] = []
    try commit { transaction throws(LMDBError) in
      fillers = []
      var next = Self.firstHandle
      for database in list {
        while next < database.handle {
          fillers.append(try transaction.createDatabase("\u{1}\(next)", []))
          next += 1
        }
        let found = try transaction.openDatabase(database.name, database.flags, create: false)
        guard found?.handle == database.handle else { throw .badDatabase }
        next += 1
      }
    }
    try commit { transaction throws(LMDBError) in
      for filler in fillers { try transaction.deleteDatabase(filler) }
      try finish(transaction)
    }
  }

  /// The first handle of a named database. Lower handles belong to LMDB's free list and name tree.
  private static var firstHandle: UInt32 { 2 }

  /// Renames the copy to this file's name and continues with it.
  private func adopt(_ next: Environment) throws(LMDBError) {
    do throws(LMDBError) { try closeGate() } catch {
      throw error == .growthBlocked ? .inUse : error
    }
    defer { openGate() }
    do {
      try OpeningLock.exclusively(path, identity) {
        try EnvironmentRegistry.shared.moving(self, to: next.identity) { () throws(LMDBError) in
          guard rename(next.path, path) == 0 else { throw .lastSystemError }
          do throws(LMDBError) { try adoptFiles(of: next) } catch {
            // The path now refers to the copy, but this environment cannot continue with it.
            fail(.fileReplaced)
            throw error
          }
        }
      }
    } catch {
      throw error as? LMDBError ?? .fileReplaced
    }
    try Folder.synchronize(of: path)
  }

  private func adoptFiles(of next: Environment) throws(LMDBError) {
    // No other process has the former lock file open.
    guard rename(next.path + "-lock", path + "-lock") == 0 else { throw .lastSystemError }
    try roots.show(next.file.descriptor)
    takeHandle(of: next)
    try file.become(next.file)
  }
}
