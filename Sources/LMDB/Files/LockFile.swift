internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The reader table next to the data file.
enum LockFile {
  /// The size of a reader slot in bytes.
  private static let slotSize = 64
  /// An upper bound of the size of LMDB's header in bytes.
  private static let headerSize = 512

  /// Ensures that the lock file is usable before LMDB opens it.
  ///
  /// It has to be a regular file that this process can write, with its disk space allocated: LMDB
  /// maps it sparsely, and on a full disk the first access to a hole would raise a signal. A new
  /// lock file is given the owner of the data file if the system permits that, so that inspecting a
  /// user's store does not lock the owner out.
  ///
  /// The number of reader slots of an existing file is not changed, because the first opener
  /// determines it. Call this only while this process does not have the file open: closing any
  /// descriptor of it releases LMDB's lock.
  ///
  /// - Parameters:
  ///   - data: A descriptor of the data file.
  ///   - writes: Whether this process may write, so that it needs the gate of the writers.
  /// - Returns: The gate, or `nil` if it isn't needed or the system doesn't support it.
  /// - Throws: ``LMDBError/lockFile(_:)``, ``LMDBError/diskFull``. A read-only medium is left to
  ///   LMDB, which reads it without a lock.
  static func prepare(
    _ path: String, of data: Int32, readers: Int, writes: Bool
  ) throws(LMDBError) -> WriterGate? {
    let descriptor: Int32
    do throws(LMDBError) {
      descriptor = try open(path, of: data)
    } catch .readOnlyFileSystem {
      return nil
    } catch {
      if let problem = LockFileProblem(path, error) { throw .lockFile(problem) }
      throw error
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .lockFile(LockFileProblem(path: path, kind: .notRegular))
    }
    #if canImport(Glibc)
      let size = headerSize + slotSize * readers
      // Usually it has no holes.
      if Int(status.st_blocks) * 512 < max(size, Int(status.st_size)) {
        var code: Int32
        repeat { code = arbor_reserve(descriptor, off_t(size)) } while code != 0 && errno == EINTR
        // Some file systems cannot allocate space in advance.
        if code != 0, errno == ENOSPC || errno == EDQUOT { throw .diskFull }
      }
    #endif
    return writes ? try WriterGate.prepare(descriptor, readers: readers) : nil
  }

  private static func open(_ path: String, of data: Int32) throws(LMDBError) -> Int32 {
    // Without O_NONBLOCK, opening a pipe could wait for its other end.
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    while true {
      let found = systemOpen(path, flags)
      if found >= 0 { return found }
      guard errno == ENOENT else { throw .lastSystemError }
      let made = systemOpen(path, flags | O_CREAT | O_EXCL)
      if made >= 0 {
        giveToOwner(of: data, made)
        return made
      }
      // Another process may have created it in the meantime.
      guard errno == EEXIST else { throw .lastSystemError }
    }
  }

  private static func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.open(path, flags, 0o600)
    #else
      Darwin.open(path, flags, 0o600)
    #endif
  }

  /// Gives a new lock file the owner of the data file. Has no effect in an unprivileged process.
  private static func giveToOwner(of data: Int32, _ descriptor: Int32) {
    var owner = stat()
    guard fstat(data, &owner) == 0, owner.st_uid != geteuid() else { return }
    _ = fchown(descriptor, owner.st_uid, owner.st_gid)
  }
}

/// The reason why a lock file cannot be used.
@usableFromInline
package struct LockFileProblem: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    case directory
    case notRegular
    /// The lock file belongs to another user, and the current user cannot write to it.
    case foreign(owner: UInt32)
    /// The lock file is missing and cannot be created in the folder.
    case cannotBeMade
  }

  package let path: String
  package let kind: Kind
}

extension LockFileProblem {
  /// Determines why the system refused to open the file. Returns `nil` if the error is already
  /// specific.
  init?(_ path: String, _ error: LMDBError) {
    switch error {
    case .isDirectory: self.init(path: path, kind: .directory)
    case .notRegularFile: self.init(path: path, kind: .notRegular)
    case .accessDenied, .notPermitted:
      var status = stat()
      let isThere = lstat(path, &status) == 0
      self.init(path: path, kind: isThere ? .foreign(owner: status.st_uid) : .cannotBeMade)
    default: return nil
    }
  }

  @usableFromInline
  package var description: String {
    switch kind {
    case .directory: "The lock file \(path) is a directory."
    case .notRegular: "The lock file \(path) is not a regular file."
    case .foreign(let owner):
      "The lock file \(path) belongs to the user \(owner) and is not writable."
    case .cannotBeMade:
      "The lock file \(path) is missing and cannot be created, because its folder is not writable."
    }
  }

  var remedy: String {
    switch kind {
    case .directory, .notRegular: "Remove it while no process has the store open."
    case .foreign:
      "Remove it while no process has the store open, or open the store as the same user "
        + "everywhere."
    case .cannotBeMade:
      "Open the store as a user who can write to that folder. If no process changes the store, "
        + "set isImmutable in the options to read it without a lock file."
    }
  }
}
