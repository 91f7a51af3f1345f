internal import ArborLocks
internal import CArborBits
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Which file a path leads to, however it is spelled.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// The file that `path` leads to now; nil where none exists.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// A descriptor of a data file, opened without mapping it, that carries the file's `flock`.
///
/// Never opens the *lock* file, because closing any descriptor of it would release LMDB's own lock.
/// An `flock` belongs to this descriptor alone and isn't affected by others.
struct DataFile: ~Copyable {
  /// The kind of lock held on the file.
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

  /// Which file it is; changes with ``become(_:)`` alone.
  var identity: FileIdentity { leadsTo.withLock { $0 } }

  deinit { close(descriptor) }

  /// Opens the file, refuses everything that cannot be a store, and takes `lock` on it without
  /// waiting (`inUse` where somebody else holds it against us).
  init(path given: String, create: Bool, allowsNetwork: Bool, lock: LockKind) throws(LMDBError) {
    while true {
      let path = try Self.canonicalPath(given)
      let descriptor = try Self.openDescriptor(path, create: create)
      do throws(LMDBError) {
        let identity = try Self.inspect(descriptor, allowsNetwork: allowsNetwork)
        if flock(descriptor, lock.operation | LOCK_NB) != 0 {
          throw errno == EWOULDBLOCK ? .inUse : .lastSystemError
        }
        // Somebody may have replaced the file between the opening and the lock.
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

  /// Wraps an open descriptor of a file without a lasting name.
  init(descriptor: Int32, path: String, identity: FileIdentity) {
    self.descriptor = descriptor
    self.path = path
    leadsTo = Lock(identity)
  }

  /// Lets this descriptor lead to another file, which has taken this one's path.
  ///
  /// The lock on the former file is dropped; the lock is the other one's from now on.
  func become(_ other: borrowing DataFile) throws(LMDBError) {
    guard arbor_redirect(descriptor, other.descriptor) >= 0 else { throw .lastSystemError }
    let identity = other.identity
    leadsTo.withLock { $0 = identity }
  }

  /// Changes the lock without waiting; false where somebody else holds it against us.
  func lock(_ kind: LockKind) -> Bool { flock(descriptor, kind.operation | LOCK_NB) == 0 }

  /// Keeps everybody from putting another file in this one's place until ``endOpening()``; waits
  /// where somebody is at it. False where the file system has no such locks, so that nobody can.
  func beginOpening() throws(LMDBError) -> Bool {
    if OpeningLock.take(descriptor, .shared, waits: true) { return true }
    let code = errno
    guard OpeningLock.isUnsupported(code) else { throw LMDBError(code: code) }
    return false
  }

  /// Ends what ``beginOpening()`` began. Where that fails, only closing the descriptor does so: who
  /// went on with it would keep everybody from replacing the file, itself included.
  func endOpening() throws(LMDBError) {
    guard OpeningLock.take(descriptor, .none, waits: false) else { throw .lastSystemError }
  }

  /// True as long as the path still leads to this file. Where the system does not tell, as after a
  /// change of the process's rights, the file need only have a name.
  var isInPlace: Bool {
    var status = stat()
    if stat(path, &status) == 0 { return FileIdentity(status) == identity }
    guard errno != ENOENT, errno != ENOTDIR else { return false }
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Bytes of the file.
  var size: Int { get throws(LMDBError) { try Self.size(ofFile: descriptor) } }

  /// Bytes of an open file.
  static func size(ofFile descriptor: Int32) throws(LMDBError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    return Int(status.st_size)
  }

  /// Refuses what the system would take for another path: it reads up to a zero byte.
  static func validate(_ path: String) throws(LMDBError) {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidPath }
  }

  /// The path with symbolic links, `.` and `..` resolved; its last part need not exist.
  ///
  /// - Throws: ``LMDBError/invalidPath``, ``LMDBError/danglingLink``, ``LMDBError/isDirectory`` for
  ///   a path that only a folder can have; what the system says of the folders.
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
    // Without O_NONBLOCK opening a pipe would wait for its other end.
    var flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    flags |= create ? O_RDWR | O_CREAT : O_RDONLY
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .lastSystemError }
    return descriptor
  }

  /// Makes a new file, which must not exist, or opens one for writing, which must.
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

  /// What the system says of an open file; an error where it is none, but a folder or a device.
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
