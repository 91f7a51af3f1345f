internal import ArborLocks

extension Environment {
  /// Runs `body` while nobody else has the file open and nothing in this process reads or writes
  /// it: to replace or remove it.
  ///
  /// `body` may read on its own thread and may close the environment, as it must before it puts
  /// another file in its place; it cannot write.
  ///
  /// - Throws: ``LMDBError/inUse`` where another process has the file open, or a snapshot of this
  ///   one does not end;
  ///   ``LMDBError/fileReplaced`` where another file took its place; what `body` throws.
  package func withExclusiveLock<R>(_ body: () throws -> R) throws -> R {
    try takeWriter()
    defer { releaseWriter() }
    do throws(LMDBError) { try closeGate() } catch {
      throw error == .growthBlocked ? LMDBError.inUse : error
    }
    defer { openGate() }
    try lockFile()
    defer {
      let isOpen = state.withLock { $0.handle != nil }
      _ = file.lock(isOpen ? .shared : .none)
    }
    return try body()
  }

  /// Takes the file for this process alone.
  ///
  /// - Throws: ``LMDBError/inUse`` where another process has it open; ``LMDBError/fileReplaced``.
  func lockFile() throws(LMDBError) {
    guard file.lock(.exclusive) else {
      try takeSharedLockBack()
      throw .inUse
    }
    guard !isShared || file.isInPlace else {
      _ = file.lock(.none)
      fail(.fileReplaced)
      throw .fileReplaced
    }
  }

  /// A failed change of the lock may have lost it. A process that got it in between may replace the
  /// file.
  private func takeSharedLockBack() throws(LMDBError) {
    if file.lock(.shared), !isShared || file.isInPlace { return }
    fail(.fileReplaced)
    throw .fileReplaced
  }

  /// Runs `body` while nobody, in this process or another, has the file at `path` open: to replace
  /// or remove a file that cannot be opened as a store.
  ///
  /// - Throws: ``LMDBError/inUse`` where somebody has it open; what `body` throws.
  package static func withExclusiveLock<R>(path: String, _ body: () throws -> R) throws -> R {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .exclusive)
    return try EnvironmentRegistry.shared.reserving(file.identity, body)
  }
}
