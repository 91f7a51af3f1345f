internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The table of readers beside the data file.
enum LockFile {
  /// Bytes of a reader's slot, and more than LMDB's own header.
  private static let slotSize = 64
  private static let headerSize = 512

  /// Makes sure, before LMDB opens it, that the lock file can be one.
  ///
  /// It has to be a plain file that this process may write, and to have its room on the disk: LMDB
  /// maps it with holes, and on a full disk the first reader in a hole would end the process by a
  /// signal. A new one gets the owner of the data file where the system allows that, so that a look
  /// at somebody's store does not lock its owner out.
  ///
  /// The size of the file stays as it is, since the first opener decides it. Call this only while
  /// this process does not have the file open: closing any descriptor of it drops LMDB's lock.
  ///
  /// - Parameter data: a descriptor of the data file.
  /// - Throws: ``LMDBError/lockFile(_:)``, ``LMDBError/diskFull``. A medium that cannot be written
  ///   is left for LMDB, which reads there without a lock.
  static func prepare(_ path: String, of data: Int32, readers: Int) throws(LMDBError) {
    let descriptor: Int32
    do throws(LMDBError) {
      descriptor = try open(path, of: data)
    } catch .readOnlyFileSystem {
      return
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
      // Most often it has no holes by now.
      if Int(status.st_blocks) * 512 >= max(size, Int(status.st_size)) { return }
      var code: Int32
      repeat { code = arbor_reserve(descriptor, off_t(size)) } while code != 0 && errno == EINTR
      // Some file systems cannot reserve room.
      if code != 0, errno == ENOSPC || errno == EDQUOT { throw .diskFull }
    #endif
  }

  private static func open(_ path: String, of data: Int32) throws(LMDBError) -> Int32 {
    // Without O_NONBLOCK opening a pipe could wait for its other end.
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
      // Another process may have made it meanwhile.
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

  /// Only a privileged process can do so; for others the file stays their own.
  private static func giveToOwner(of data: Int32, _ descriptor: Int32) {
    var owner = stat()
    guard fstat(data, &owner) == 0, owner.st_uid != geteuid() else { return }
    _ = fchown(descriptor, owner.st_uid, owner.st_gid)
  }
}

/// Why a lock file cannot be used.
package struct LockFileProblem: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    case directory
    case notRegular
    /// It belongs to a user and cannot be written by this one.
    case foreign(owner: UInt32)
    /// None exists, and the folder does not take one.
    case cannotBeMade
  }

  package let path: String
  package let kind: Kind
}

extension LockFileProblem {
  /// The problem behind a refusal of the system to open the file; nil for refusals that say enough
  /// by themselves.
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
      "Open the store as a user who may write there, or open a copy. Readers need the lock file "
        + "too."
    }
  }
}
