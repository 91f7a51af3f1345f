internal import ArborLocks
internal import CArborBits
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The identity of a file, independent of the spelling of its path.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Creates the identity of the file that `path` currently refers to. Returns `nil` if there isn't
  /// one.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Creates the identity of an open file. Returns `nil` if the descriptor is invalid.
  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// A descriptor of a data file that is opened without mapping it and holds the file's `flock`.
///
/// Closing any descriptor of the *lock* file would release LMDB's own lock, so this type never
/// opens it. An `flock` belongs to this descriptor alone, and other descriptors do not affect it.
struct DataFile: ~Copyable {
  /// The kind of lock on the file.
  enum LockKind {
    case shared
    case exclusive
    case none

    fileprivate var operation: Int32 {
      switch self {
      case .shared: LOCK_SH
      case .exclusive: LOCK_EX
      case .none: LOCK_UN
      }
    }
  }

  let descriptor: Int32
  let path: String
  private let leadsTo: Lock<FileIdentity>

  /// The identity of the file. Changed only by ``become(_:)``.
  var identity: FileIdentity { leadsTo.withLock { $0 } }

  deinit { close(descriptor) }

  /// Opens the file, rejects everything that cannot be a store, and takes `lock` on it without
  /// waiting (`inUse` if another process holds a conflicting lock).
  init(path given: String, create: Bool, allowsNetwork: Bool, lock: LockKind) throws(LMDBError) {
    while true {
      let path = try Self.canonicalPath(given)
      let descriptor = try Self.openDescriptor(path, create: create)
      do throws(LMDBError) {
        let identity = try Self.inspect(descriptor, allowsNetwork: allowsNetwork)
        if flock(descriptor, lock.operation | LOCK_NB) != 0 {
          throw errno == EWOULDBLOCK ? .inUse : .lastSystemError
        }
        // The file may have been replaced between opening and locking it.
        if FileIdentity(path: path) == identity {
          self.descriptor = descriptor
          self.path = path
          leadsTo = Lock(identity)
          return
        }
        close(descriptor)
      } catch {
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        close(descriptor)
        guard error == .hardLinked, isKnown, FileReplacement.settle(path, FileIdentity(status))
        else { throw error }
      }
    }
  }

  /// Wraps an open descriptor of a file without a permanent name.
  init(descriptor: Int32, path: String, identity: FileIdentity) {
    self.descriptor = descriptor
    self.path = path
    leadsTo = Lock(identity)
  }

  /// Redirects this descriptor to another file, which has taken this one's path.
  ///
  /// The lock on the former file is released. The lock of the other file is held from now on.
  func become(_ other: borrowing DataFile) throws(LMDBError) {
    guard arbor_redirect(descriptor, other.descriptor) >= 0 else { throw .lastSystemError }
    let identity = other.identity
    leadsTo.withLock { $0 = identity }
  }

  /// Changes the lock without waiting. Returns `false` if another process holds a conflicting lock.
  func lock(_ kind: LockKind) -> Bool { flock(descriptor, kind.operation | LOCK_NB) == 0 }

  /// Prevents the file from being replaced until ``endOpening()``, waiting if a replacement is in
  /// progress. Returns `false` if the file system does not support such locks, in which case files
  /// cannot be replaced.
  func beginOpening() throws(LMDBError) -> Bool {
    if OpeningLock.take(descriptor, .shared, waits: true) { return true }
    let code = errno
    guard OpeningLock.isUnsupported(code) else { throw LMDBError(code: code) }
    return false
  }

  /// Releases the lock of ``beginOpening()``. If this fails, the descriptor has to be closed:
  /// otherwise nothing, including this process, could replace the file.
  func endOpening() throws(LMDBError) {
    guard OpeningLock.take(descriptor, .none, waits: false) else { throw .lastSystemError }
  }

  /// A Boolean value that indicates whether the path still refers to this file. If the path cannot
  /// be inspected, for example because the process has lost its permissions, the value indicates
  /// whether the file still has a name.
  var isInPlace: Bool {
    var status = stat()
    if stat(path, &status) == 0 { return FileIdentity(status) == identity }
    guard errno != ENOENT, errno != ENOTDIR else { return false }
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// The size of the file in bytes.
  var size: Int { get throws(LMDBError) { try Self.size(ofFile: descriptor) } }

  /// Returns the size of an open file in bytes.
  static func size(ofFile descriptor: Int32) throws(LMDBError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    return Int(status.st_size)
  }

  /// Rejects paths that the system would truncate at a zero byte.
  static func validate(_ path: String) throws(LMDBError) {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidPath }
  }

  /// Returns the path with symbolic links, `.` and `..` resolved. Its last component need not
  /// exist.
  ///
  /// - Throws: ``LMDBError/invalidPath``, ``LMDBError/danglingLink``, ``LMDBError/isDirectory`` for
  ///   a path that can only name a folder; system errors for the folders.
  static func canonicalPath(_ path: String) throws(LMDBError) -> String {
    try validate(path)
    if let real = resolve(path) { return real }
    guard errno == ENOENT else { throw .lastSystemError }
    var status = stat()
    if lstat(path, &status) == 0 { throw .danglingLink }
    if path.hasSuffix("/") { throw .isDirectory }
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard let name = parts.last, name != ".", name != ".." else { throw .noSuchFile }
    let folder = parts.dropLast().joined(separator: "/")
    let start = path.hasPrefix("/") ? "/" : "./"
    guard let real = resolve(start + folder) else { throw .lastSystemError }
    return real == "/" ? "/" + name : real + "/" + name
  }

  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func openDescriptor(_ path: String, create: Bool) throws(LMDBError) -> Int32 {
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    var flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    flags |= create ? O_RDWR | O_CREAT : O_RDONLY
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .lastSystemError }
    return descriptor
  }

  /// Creates a new file, which must not exist, or opens an existing one for writing.
  static func createDescriptor(_ path: String, mustBeNew: Bool = true) throws(LMDBError) -> Int32 {
    try validate(path)
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (mustBeNew ? O_CREAT | O_EXCL : 0)
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .lastSystemError }
    return descriptor
  }

  static func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

  private static func inspect(
    _ descriptor: Int32, allowsNetwork: Bool
  ) throws(LMDBError) -> FileIdentity {
    let status = try status(ofFile: descriptor)
    if status.st_nlink > 1 { throw .hardLinked }
    if !allowsNetwork, isRemote(descriptor) { throw .networkFileSystem }
    return FileIdentity(status)
  }

  /// Returns the status of an open file. Throws if it is a folder or a device.
  static func status(ofFile descriptor: Int32) throws(LMDBError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return status
    case S_IFDIR: throw .isDirectory
    default: throw .notRegularFile
    }
  }

  #if canImport(Glibc)
    /// The kinds of file systems, from `linux/magic.h`, whose locks or mapped pages are not
    /// coherent between openers: NFS, SMB, CIFS, SMB2, 9P, FUSE, AFS, Ceph, Coda.
    static let remoteKinds: [UInt32] = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x6573_5546, 0x5346_414F,
      0x00C3_6400, 0x7375_7245,
    ]
  #endif

  private static func isRemote(_ descriptor: Int32) -> Bool {
    var system = statfs()
    guard fstatfs(descriptor, &system) == 0 else { return false }
    #if canImport(Glibc)
      return remoteKinds.contains(UInt32(truncatingIfNeeded: system.f_type))
    #else
      return system.f_flags & UInt32(MNT_LOCAL) == 0
    #endif
  }
}
