internal import ArborFoundation
internal import LMDB

/// Operations on a store's files: locking, renaming and removing them.
package enum StoreFiles {
  /// Runs `body` while no other process has an open store's file open. The environment is closed
  /// first.
  static func exclusively(
    _ environment: Environment, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try typed(environment.path) {
      try environment.withExclusiveLock {
        try environment.close()
        try body()
      }
    }
  }

  /// Runs `body` while no process has the file at a path open.
  static func exclusively(path: String, _ body: () throws(StoreError) -> Void) throws(StoreError) {
    try typed(path) { try Environment.withExclusiveLock(path: path) { try body() } }
  }

  /// Replaces a store, which other processes may have open, with another complete one. The other
  /// processes continue to read the former one, and every commit to it throws `fileReplaced` from
  /// then on.
  ///
  /// Even if the process is killed meanwhile, the path refers to one of the two files, and that
  /// file is complete. The staged file is not checked, because the code that created it has done
  /// so.
  ///
  /// - Parameters:
  ///   - staged: The path of the replacement, in the same folder.
  ///   - keepsFormer: Whether to keep the replaced store as ``formerPath(of:)``, which other
  ///     processes may open, too. It must not exist yet.
  ///   - permit: Called with the header of the store to replace, while no process writes to it.
  ///     Throws if it must be kept. It may run more than once.
  /// - Throws: `inUse` if this process has the replaced store open, or any process has the
  ///   replacement open; `inputOutput` with `EEXIST` if a former store is already kept; errors of
  ///   `permit`. In these cases, nothing has changed.
  package static func replace(
    _ path: String, by staged: String, keepsFormer: Bool = false,
    permit: (HeaderRecord) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    guard try exists(staged) else { throw .missing(path: staged) }
    let former = formerPath(of: path)
    if keepsFormer, try exists(former) {
      throw .inputOutput(operation: "link", path: former, errno: EEXIST)
    }
    while true {
      var isJournaled = false
      do throws(StoreError) {
        return try typed(path) {
          try Environment.replaceFile(at: path, by: staged, keepsFormer: keepsFormer) {
            _, transaction in
            let arbor = try transaction.openDatabase(
              StoreFormat.arborDatabase, StoreFormat.arborFlags)
            guard arbor != nil else {
              throw StoreError.notAStore(
                path: path, what: "The file is a database of another program.")
            }
            let header = try StoreHeader.read(transaction.reader, path: path)
            // A process is writing to it, with a journal that belongs to this file.
            isJournaled = header.isJournaled
            guard !isJournaled else { throw StoreError.inUse(path: path) }
            try permit(header)
          }
        }
      } catch {
        guard isJournaled else { throw error }
      }
      try endJournaling(path)
    }
  }

  private static func endJournaling(_ path: String) throws(StoreError) {
    let environment = try storing(path: path, Environment.open(path: path))
    defer { try? environment.close() }
    try StoreJournal.endForAll(environment)
  }

  /// Returns the path under which a replaced store is kept.
  package static func formerPath(of path: String) -> String {
    Environment.formerPath(of: path)
  }

  /// Returns the path that a store has while it is being replaced, if it isn't kept. The file
  /// remains if the process is killed.
  static func replacedPath(of path: String) -> String { Environment.replacedPath(of: path) }

  private static func typed(_ path: String, _ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch let error as StoreError {
      throw error
    } catch let error as LMDBError {
      throw StoreError(error, path: path)
    } catch {
      throw .inputOutput(operation: "lock", path: path, errno: EIO)
    }
  }

  /// Returns the path of the file that is rebuilt from a log to replace a store's file.
  package static func followingPath(of path: String) -> String { "\(path)-following" }

  /// Removes a file that no other process uses, and its lock file, if they exist.
  package static func discard(_ path: String) {
    unlink(path + "-lock")
    unlink(path)
  }

  /// Returns whether a file exists.
  ///
  /// - Throws: An error if the system doesn't report whether it exists. Treating the file as
  ///   missing would overwrite or ignore it.
  package static func exists(_ path: String) throws(StoreError) -> Bool {
    if access(path, F_OK) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw StoreError(errno: errno, path: path) }
    return false
  }

  /// Removes the file at the path of a store to create if the file is empty.
  ///
  /// - Returns: The path, with symbolic links resolved.
  package static func removeEmpty(_ path: String) throws(StoreError) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    let path = String(cString: resolved)
    func isEmpty() -> Bool {
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }
    guard isEmpty() else { return path }
    let lock = try StoreLock(path, suffix: "-empty-lock", waits: true)
    defer { lock.end() }
    // Another process may have created a store there in the meantime.
    guard isEmpty() else { return path }
    unlink(path + "-lock")
    guard unlink(path) == 0 else { throw StoreError.failed("unlink", path, errno: errno) }
    return path
  }

  /// Renames a store's file and its journal within their folder.
  ///
  /// - Throws: `inUse` if any process has it open; `inputOutput`.
  package static func move(_ path: String, to name: String) throws(StoreError) {
    try exclusively(path: path) { () throws(StoreError) in try move(past: path, to: name) }
  }

  private static func move(past path: String, to name: String) throws(StoreError) {
    // The lock file is removed first: once the name is free, it may belong to another process's new
    // store.
    unlink(path + "-lock")
    let journal = JournalFile.path(of: path)
    guard rename(journal, JournalFile.path(of: name)) == 0 || errno == ENOENT else {
      throw StoreError.failed("rename", journal, errno: errno)
    }
    guard rename(path, name) == 0 else { throw StoreError.failed("rename", path, errno: errno) }
    try synchronizeFolder(of: path)
  }

  /// Renames a damaged file, which is kept next to its original path.
  ///
  /// - Throws: `inUse` if any process has it open; `inputOutput`.
  package static func setAside(_ path: String) throws(StoreError) {
    try exclusively(path: path) { () throws(StoreError) in try setAside(past: path) }
  }

  /// Renames a damaged file that no other process has open.
  static func setAside(past path: String) throws(StoreError) {
    let stamp = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    var name = "\(path).damaged-\(stamp)"
    var number = 2
    while try exists(name) {
      name = "\(path).damaged-\(stamp)-\(number)"
      number += 1
    }
    try move(past: path, to: name)
  }

  /// Waits until a file's folder has been synced, so that changes to its entries are durable.
  static func synchronizeFolder(of path: String) throws(StoreError) {
    do throws(LMDBError) { try Folder.synchronize(of: path) } catch {
      throw StoreError.failed("fsync", Folder.path(of: path), errno: error.code ?? EIO)
    }
  }

  /// Removes a store's file, its lock file, its journal and abandoned files next to it.
  static func remove(_ path: String) throws(StoreError) {
    unlink(path + "-lock")
    try JournalFile.remove(of: path)
    guard unlink(path) == 0 || errno == ENOENT else {
      throw StoreError.failed("unlink", path, errno: errno)
    }
    UnfinishedFile.removeAbandoned(beside: path)
    try synchronizeFolder(of: path)
  }
}
