internal import ArborLocks

extension Environment {
  /// Runs `body` while no other process has the file open and nothing in this process reads or
  /// writes it, for example to replace or remove it.
  ///
  /// `body` may read on its own thread. It may close the environment, which it must do before it
  /// replaces the file. It cannot write.
  ///
  /// - Throws: ``LMDBError/inUse`` if another process has the file open, or a snapshot of this one
  ///   does not end; ``LMDBError/fileReplaced`` if another file has taken its place; errors of
  ///   `body`.
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

  /// Locks the file for this process alone.
  ///
  /// - Throws: ``LMDBError/inUse`` if another process has it open; ``LMDBError/fileReplaced``.
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

  /// Takes the shared lock again after a failed lock conversion, which may have released it. Throws
  /// if another process acquired it in between, because that process may have replaced the file.
  private func takeSharedLockBack() throws(LMDBError) {
    if file.lock(.shared), !isShared || file.isInPlace { return }
    fail(.fileReplaced)
    throw .fileReplaced
  }

  /// Runs `body` while no process, including this one, has the file at `path` open, to replace or
  /// remove a file that cannot be opened as a store.
  ///
  /// - Throws: ``LMDBError/inUse`` if the file is open; errors of `body`.
  package static func withExclusiveLock<R>(path: String, _ body: () throws -> R) throws -> R {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .exclusive)
    // Unlocked explicitly, because a child process that another thread is starting may have a copy
    // of the descriptor.
    defer { _ = file.lock(.none) }
    return try EnvironmentRegistry.shared.reserving(file.identity, body)
  }
}
