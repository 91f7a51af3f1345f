internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import LMDB

/// A lock that excludes other threads and processes from the same operation on a store's files,
/// using a separate file next to the store. The system releases it when its process ends.
package final class StoreLock: Sendable {
  private let name: String
  private let descriptor: Lock<Int32?>

  /// Acquires the lock.
  ///
  /// - Parameters:
  ///   - path: The path of the store, which need not exist.
  ///   - suffix: The suffix that is appended to the store's path to form the path of the lock file.
  ///   - waits: Whether to wait until another holder releases the lock.
  /// - Throws: `inUse` if there is another holder and `waits` is `false`; `interrupted` if the task
  ///   is cancelled meanwhile.
  package init(_ path: String, suffix: String, waits: Bool) throws(StoreError) {
    let name = path + suffix
    let limit = WorkLimit()
    var pause: useconds_t = 1000
    while true {
      let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        let code = errno
        // The lock is a means, so the error is about the store.
        if [EACCES, EPERM, EROFS].contains(code) { throw .readOnly(path: path) }
        throw StoreError.failed("open", name, errno: code)
      }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        close(descriptor)
        guard code == EWOULDBLOCK else { throw StoreError.failed("flock", name, errno: code) }
        guard waits else { throw .inUse(path: path) }
        try limit.checkStoreNow()
        usleep(pause)
        pause = min(2 * pause, 50_000)
        continue
      }
      // The previous holder has removed the name, possibly after this process opened the file.
      if let named = FileIdentity(path: name), named == FileIdentity(descriptor: descriptor) {
        self.name = name
        self.descriptor = Lock(descriptor)
        return
      }
      close(descriptor)
    }
  }

  deinit { end() }

  /// Releases the lock.
  package func end() {
    descriptor.withLock { descriptor in
      guard let held = descriptor else { return }
      descriptor = nil
      unlink(name)
      // Explicitly, because a child process that another thread is starting may have a copy of the
      // descriptor.
      flock(held, LOCK_UN)
      close(held)
    }
  }

  /// Returns the canonical path of a store, which need not exist.
  package static func canonicalPath(_ path: String) -> String {
    func resolved(_ path: String) -> String? {
      guard let found = realpath(path, nil) else { return nil }
      defer { free(found) }
      return String(cString: found)
    }
    if let found = resolved(path) { return found }
    guard let folder = resolved(Folder.path(of: path)) else { return path }
    return "\(folder)/\(URL(filePath: path).lastPathComponent)"
  }
}
