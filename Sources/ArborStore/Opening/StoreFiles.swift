internal import Foundation
internal import LMDB

/// Operations on the files of stores: exclusive locking, replacement and removal.
package enum StoreFiles {
  /// Runs `body` while nobody else has an open store's file open; the environment is closed first.
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

  /// Runs `body` while nobody has the file at a path open.
  static func exclusively(path: String, _ body: () throws(StoreError) -> Void) throws(StoreError) {
    try typed(path) { try Environment.withExclusiveLock(path: path) { try body() } }
  }

  /// Puts a complete store in the place of another, which other processes may have open: they go on
  /// reading it, and every commit to it throws `fileReplaced` from then on.
  ///
  /// A kill at any moment leaves one of the two under the path, whole. The staged file is not
  /// checked: the code that made it has done so.
  ///
  /// - Parameters:
  ///   - staged: The path of the store that comes, beside the other one.
  ///   - keepsFormer: Keeps the store that goes as ``formerPath(of:)``, which other processes may
  ///     open too; there must be no such file yet.
  ///   - permit: Is shown the header of the store that goes, while nobody writes to it, and throws
  ///     where it is not to go. It may run more than once.
  /// - Throws: `inUse` where this process has the first store open, or anybody the second;
  ///   `inputOutput` with `EEXIST` where a former store is kept already; what `permit` throws.
  ///   Nothing has changed then.
  package static func replace(
    _ path: String, by staged: String, keepsFormer: Bool = false,
    permit: (HeaderRecord) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    guard try exists(staged) else { throw .missing(path: staged) }
    let former = formerPath(of: path)
    if keepsFormer, try exists(former) {
      throw .inputOutput(operation: "link", path: former, errno: EEXIST)
    }
    try typed(path) {
      try Environment.replaceFile(at: path, by: staged, keepsFormer: keepsFormer) {
        _, transaction in
        let arbor = try transaction.openDatabase(StoreFormat.arborDatabase, StoreFormat.arborFlags)
        guard arbor != nil else {
          throw StoreError.notAStore(path: path, what: "The file is a database of another program.")
        }
        try permit(StoreHeader.read(transaction.reader, path: path))
      }
    }
  }

  /// What a store that was replaced is called if it is kept.
  package static func formerPath(of path: String) -> String {
    Environment.formerPath(of: path)
  }

  /// What a store that is being replaced and not kept is called, which a kill may leave.
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

  /// The name beside a store's file of the one that is made to take its place from a log.
  package static func followingPath(of path: String) -> String { "\(path)-following" }

  /// Removes a file that nobody else knows, and the engine's lock file, if they exist.
  package static func discard(_ path: String) {
    unlink(path + "-lock")
    unlink(path)
  }

  /// Whether there is a file at a path.
  ///
  /// - Throws: Where the system does not tell. To take that for no would begin anew what is there,
  ///   or forget it.
  package static func exists(_ path: String) throws(StoreError) -> Bool {
    if access(path, F_OK) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw StoreError(errno: errno, path: path) }
    return false
  }

  /// Removes an empty file, which is the place of a store that is to be made.
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
    // Somebody else may have made a store there meanwhile.
    guard isEmpty() else { return path }
    unlink(path + "-lock")
    guard unlink(path) == 0 else { throw StoreError.failed("unlink", path, errno: errno) }
    return path
  }

  /// Gives a store's file another name in its folder.
  ///
  /// - Throws: `inUse` where somebody has it open; `inputOutput`.
  package static func move(_ path: String, to name: String) throws(StoreError) {
    try exclusively(path: path) { () throws(StoreError) in try move(past: path, to: name) }
  }

  private static func move(past path: String, to name: String) throws(StoreError) {
    // First the lock file: once the name is free, it may be of somebody else's new store.
    unlink(path + "-lock")
    guard rename(path, name) == 0 else { throw StoreError.failed("rename", path, errno: errno) }
    try synchronizeFolder(of: path)
  }

  /// Gives a damaged file another name beside its place, where it is kept.
  ///
  /// - Throws: `inUse` where somebody has it open; `inputOutput`.
  package static func setAside(_ path: String) throws(StoreError) {
    try exclusively(path: path) { () throws(StoreError) in try setAside(past: path) }
  }

  /// The same where nobody else has it open.
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

  /// Waits until the entries of a file's folder are on the medium.
  static func synchronizeFolder(of path: String) throws(StoreError) {
    do throws(LMDBError) { try Folder.synchronize(of: path) } catch {
      throw StoreError.failed("fsync", Folder.path(of: path), errno: error.code ?? EIO)
    }
  }

  /// Removes a store's files, those of migrations included.
  static func remove(_ path: String) throws(StoreError) {
    unlink(path + "-lock")
    guard unlink(path) == 0 || errno == ENOENT else {
      throw StoreError.failed("unlink", path, errno: errno)
    }
    UnfinishedFile.removeAbandoned(beside: path)
    try synchronizeFolder(of: path)
  }
}
