internal import ArborFoundation
internal import ArborModel

/// The write lock of a log's folder. The system releases it if the process dies.
enum FolderLease {
  /// Runs `body` as the only writer of a folder.
  ///
  /// - Throws: ``ArborError`` `inUse` if another writer holds the lock, in this process or another;
  ///   errors of `body`.
  static func hold<R, Failure: Error>(
    _ folder: String, _ body: () throws(Failure) -> R
  ) throws -> R {
    let path = "\(folder)/writer"
    guard let descriptor = try LogFiles.open(path, O_RDWR | O_CREAT)?.descriptor else {
      throw LogFiles.error("Opening", path, ENOENT)
    }
    defer {
      // Closing is not sufficient: while a child process is being started, it holds a copy of the
      // descriptor.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      guard errno == EWOULDBLOCK else { throw LogFiles.error("Locking", path) }
      throw ArborError(
        .inUse,
        "Another process is writing to the log \(folder), and a log has only one writer. Wait for "
          + "that process, or use another folder.")
    }
    return try body()
  }
}
