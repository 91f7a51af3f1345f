#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Replaces a file, which other processes may have open, with another complete file.
  ///
  /// The other processes continue to read the former file, and every commit to it throws
  /// ``LMDBError/fileReplaced`` from then on. No process can write during the replacement. If the
  /// process is killed meanwhile, the path refers to one of the two files, and that file is
  /// complete; see ``FileReplacement``.
  ///
  /// - Parameters:
  ///   - path: The file to replace. This process must not have it open.
  ///   - staged: The replacement, in the same file system. No process may have it open.
  ///   - keepsFormer: Whether to keep the replaced file as ``formerPath(of:)``, which must not
  ///     exist yet.
  ///   - permit: Inspects the file to replace in a write transaction that is aborted, and throws if
  ///     it must be kept. It may run more than once.
  /// - Throws: ``LMDBError/inUse`` if this process has the first file open, or any process the
  ///   second; ``LMDBError/system(errno:)`` with `EEXIST` if a former file exists, or with `EXDEV`
  ///   for another file system; ``LMDBError/fileTooSmall`` and others if the second file is not a
  ///   data file; errors of `permit`. Nothing has changed in these cases.
  package static func replaceFile(
    at path: String, by staged: String, keepsFormer: Bool,
    permit: (Environment, borrowing WriteTransaction) throws -> Void
  ) throws {
    let coming = try DataFile(path: staged, create: false, allowsNetwork: false, lock: .exclusive)
    guard try MetaPages.check(coming.descriptor) != nil else { throw LMDBError.fileTooSmall }
    guard fsync(coming.descriptor) == 0 else { throw LMDBError.lastSystemError }
    try OpeningLock.exclusively(coming.path, coming.identity) {
      // Processes that find the file under its new name must not be rejected.
      _ = coming.lock(.none)
      try EnvironmentRegistry.shared.reserving(coming.identity) {
        try replace(path, by: coming.path, keepsFormer: keepsFormer, permit)
      }
    }
  }

  /// Returns the path of a replaced file that is kept.
  package static func formerPath(of path: String) -> String { path + FileReplacement.keptSuffix }

  /// Returns the temporary path of a replaced file that is not kept. It remains if the process is
  /// killed at that moment.
  package static func replacedPath(of path: String) -> String {
    path + FileReplacement.removedSuffix
  }

  private static func replace(
    _ path: String, by staged: String, keepsFormer: Bool,
    _ permit: (Environment, borrowing WriteTransaction) throws -> Void
  ) throws {
    let going = try DataFile(path: path, create: false, allowsNetwork: false, lock: .shared)
    let identity = going.identity
    let target = going.path
    var file: DataFile? = consume going
    // An open descriptor keeps the removed file's inode number in use until the reservation ends.
    // Otherwise, a new file could get the number and be refused as reserved.
    let held = try DataFile(path: target, create: false, allowsNetwork: false, lock: .none)
    defer { _ = held.lock(.none) }
    try EnvironmentRegistry.shared.reserving(identity) {
      guard let file = file.take() else { throw LMDBError.fileReplaced }
      let environment = try openAlone(file, EnvironmentOptions())
      defer { try? environment.close() }
      let replacement = FileReplacement(of: target, by: staged, keepsFormer: keepsFormer)
      try environment.holdingWriter { transaction in
        try permit(environment, transaction)
        try OpeningLock.exclusively(target, identity) { try replacement.run() }
      }
    }
  }

  /// Opens a file that is reserved in the registry, so that nothing else in this process can open
  /// it.
  static func openAlone(
    _ file: consuming DataFile, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    let isLocked = try file.beginOpening()
    guard file.isInPlace else { throw .fileReplaced }
    guard try MetaPages.check(file.descriptor) != nil else { throw .fileTooSmall }
    let path = file.path
    let environment = try make(
      path, options, file: file, lockPath: path + "-lock", isShared: false)
    if isLocked { try environment.file.endOpening() }
    return environment
  }

  /// Runs `body` in a write transaction that is aborted.
  private func holdingWriter(_ body: (borrowing WriteTransaction) throws -> Void) throws {
    var failure: (any Error)?
    try runWrite { transaction in
      do { try body(transaction) } catch { failure = error }
      return false
    }
    if let failure { throw failure }
  }
}
