#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Puts a complete file in the place of another, which other processes may have open: they go on
  /// reading it, and every commit to it throws ``LMDBError/fileReplaced`` from then on.
  ///
  /// No write transaction of any process is under way meanwhile. A kill at any moment leaves one of
  /// the two files under the path, whole; see ``FileReplacement``.
  ///
  /// - Parameters:
  ///   - path: the file that goes. This process must not have it open.
  ///   - staged: the file that comes, in the same file system. Nobody may have it open.
  ///   - keepsFormer: keeps the file that goes as ``formerPath(of:)``, which must not exist yet.
  ///   - permit: looks at the file that goes, in a write transaction that is aborted, and throws
  ///     where the file must stay. It may run more than once.
  /// - Throws: ``LMDBError/inUse`` where this process has the first file open or any the second;
  ///   ``LMDBError/system(errno:)`` with `EEXIST` where a former file exists, with `EXDEV` for
  ///   another file system; ``LMDBError/fileTooSmall`` and others for a second file that is no data
  ///   file; what `permit` throws. Nothing has changed then.
  package static func replaceFile(
    at path: String, by staged: String, keepsFormer: Bool,
    permit: (Environment, borrowing WriteTransaction) throws -> Void
  ) throws {
    let coming = try DataFile(path: staged, create: false, allowsNetwork: false, lock: .exclusive)
    guard try MetaPages.check(coming.descriptor) != nil else { throw LMDBError.fileTooSmall }
    guard fsync(coming.descriptor) == 0 else { throw LMDBError.lastSystemError }
    try OpeningLock.exclusively(coming.path, coming.identity) {
      // Code that finds the file under its new name must not be turned away.
      _ = coming.lock(.none)
      try EnvironmentRegistry.shared.reserving(coming.identity) {
        try replace(path, by: coming.path, keepsFormer: keepsFormer, permit)
      }
    }
  }

  /// What a file that was replaced is called if it is kept.
  package static func formerPath(of path: String) -> String { path + FileReplacement.keptSuffix }

  /// What a file that was replaced is called for a moment if it is not kept; where the process was
  /// killed just then it is left.
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

  /// Opens a file that the registry keeps everybody else in this process from opening.
  static func openAlone(
    _ file: consuming DataFile, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    let isLocked = try file.beginOpening()
    guard file.isInPlace else { throw .fileReplaced }
    guard try MetaPages.check(file.descriptor) != nil else { throw .fileTooSmall }
    let path = file.path
    try LockFile.prepare(path + "-lock", of: file.descriptor, readers: options.maximumReaders)
    let environment = try make(path, options, file: file, isShared: false)
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
