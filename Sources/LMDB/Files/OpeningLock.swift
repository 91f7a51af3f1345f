internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The lock that keeps a data file and its lock file consistent.
///
/// LMDB opens both by path, one after the other. A process that opens a file holds this lock shared
/// until LMDB has opened both. A process that replaces the file holds it exclusively until both
/// names refer to the new files. Therefore two processes never share a lock file without sharing
/// the data file, or vice versa.
///
/// It belongs to one descriptor (an *open file description lock*), is released when its process
/// dies, and is independent of the `flock` of stores, which indicates that a process has a file
/// open, and of LMDB's own locks on the lock file.
enum OpeningLock {
  enum Kind: Int32 {
    case shared = 0
    /// Requires a writable descriptor.
    case exclusive = 1
    case none = 2
  }

  /// The length of the locked range: all bytes that a file can have. ``ScrubClaim`` uses the byte
  /// after it.
  static let length = 1 << 62

  /// Changes a descriptor's lock. Returns `false` if another descriptor holds a conflicting lock,
  /// or the file system does not support such locks.
  static func take(_ descriptor: Int32, _ kind: Kind, waits: Bool) -> Bool {
    var code: Int32
    repeat {
      code = arbor_lock_range(descriptor, kind.rawValue, 0, length, waits ? 1 : 0)
    } while code != 0 && errno == EINTR
    return code == 0
  }

  /// Returns whether an error indicates that the file system does not support such locks.
  static func isUnsupported(_ code: Int32) -> Bool {
    [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK].contains(code)
  }

  /// Runs `body` while no process, including this one, is opening the file at a path.
  ///
  /// Waits for processes that are opening it, which takes milliseconds.
  ///
  /// - Throws: ``LMDBError/fileReplaced`` if the path no longer refers to the same file;
  ///   `accessDenied` if this process may not write to it; errors of `body`.
  static func exclusively<R>(
    _ path: String, _ identity: FileIdentity, _ body: () throws -> R
  ) throws -> R {
    let descriptor = try DataFile.createDescriptor(path, mustBeNew: false)
    // Closing the descriptor releases the lock.
    defer { close(descriptor) }
    guard take(descriptor, .exclusive, waits: true) else { throw LMDBError.lastSystemError }
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileIdentity(status) == identity,
      FileIdentity(path: path) == identity
    else { throw LMDBError.fileReplaced }
    return try body()
  }
}
