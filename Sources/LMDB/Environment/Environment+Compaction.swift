internal import ArborLocks

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Puts a copy without free pages in the file's place, and goes on with it.
  ///
  /// Snapshots begin and end meanwhile until the copy is complete; then it waits for those of this
  /// process to end. Nobody writes, and no other process opens the file. Databases and everything
  /// else that was made from this environment stay valid, and transactions count on. A kill at any
  /// moment leaves one of the two files under the path, whole.
  ///
  /// - Parameters:
  ///   - staged: an empty file beside this one.
  ///   - finish: the last transaction of the copy before it takes the file's place. It may run more
  ///     than once.
  /// - Throws: ``LMDBError/inUse`` where another process has the file open, or a snapshot of this
  ///   one does not end; ``LMDBError/diskFull``; ``LMDBError/readOnlyEnvironment``; what `finish`
  ///   throws. The file is as it was then.
  /// - Precondition: The file has a lasting name.
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

  /// Opens the copy, whose transactions count on from here: nobody who remembers one meets another
  /// of its number.
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
    return try Self.openAlone(found, wanted)
  }

  /// Opens the databases that another environment has open, under the same handles.
  ///
  /// LMDB gives the least handle that is free. Where the other one has deleted databases, others
  /// take their handles meanwhile.
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

  /// LMDB's own databases, the free list and the list of names, have the handles below.
  private static var firstHandle: UInt32 { 2 }

  /// Gives the copy this file's name, and goes on with it.
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
            // The path leads to the copy, which this environment cannot go on with.
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
    // Nobody else has the former lock file open.
    guard rename(next.path + "-lock", path + "-lock") == 0 else { throw .lastSystemError }
    try roots.show(next.file.descriptor)
    takeHandle(of: next)
    try file.become(next.file)
  }
}
