internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The lock that keeps a data file and the lock file beside it together.
///
/// LMDB opens both by their paths, one after the other. A process that opens a file holds this lock
/// shared until LMDB has both; one that puts another file in its place holds it exclusively, until
/// both names are the new file's. So no two processes ever share a lock file and not the data file,
/// or the other way round.
///
/// It belongs to one descriptor (an *open file description lock*), is dropped when its process
/// dies, and has nothing to do with the `flock` of stores, which says who has a file open, or with
/// LMDB's own locks, which are on the lock file.
enum OpeningLock {
  enum Kind: Int32 {
    case shared = 0
    /// Needs a descriptor for writing.
    case exclusive = 1
    case none = 2
  }

  /// The bytes that it is on: all that a file can have. Behind them is ``ScrubClaim``.
  static let length = 1 << 62

  /// Changes a descriptor's lock; false where another one holds it against this, or where the file
  /// system has no such locks.
  static func take(_ descriptor: Int32, _ kind: Kind, waits: Bool) -> Bool {
    var code: Int32
    repeat {
      code = arbor_lock_range(descriptor, kind.rawValue, 0, length, waits ? 1 : 0)
    } while code != 0 && errno == EINTR
    return code == 0
  }

  /// Whether an error says that the file system has no such locks.
  static func isUnsupported(_ code: Int32) -> Bool {
    [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, ENOLCK].contains(code)
  }

  /// Runs `body` while nobody is about to open the file at a path, in this process or another.
  ///
  /// Waits for those who are, which takes them milliseconds.
  ///
  /// - Throws: ``LMDBError/fileReplaced`` where the path leads to another file than it did;
  ///   `accessDenied` where this process may not write to it; what `body` throws.
  static func exclusively<R>(
    _ path: String, _ identity: FileIdentity, _ body: () throws -> R
  ) throws -> R {
    let descriptor = try DataFile.createDescriptor(path, mustBeNew: false)
    // Closing the descriptor gives the lock back.
    defer { close(descriptor) }
    guard take(descriptor, .exclusive, waits: true) else { throw LMDBError.lastSystemError }
    var status = stat()
    guard fstat(descriptor, &status) == 0, FileIdentity(status) == identity,
      FileIdentity(path: path) == identity
    else { throw LMDBError.fileReplaced }
    return try body()
  }
}
