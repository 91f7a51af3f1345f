#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The steps by which a complete file replaces another one that processes may have open.
///
/// ```
///            NAME    NAME-lock   NAME-before   NAME-before-lock   STAGED
/// before      F         f                                           G
/// 1 link      F         f            F                              G
/// 2 rename    F                      F               f              G
/// 3 rename    G                      F               f
/// ```
///
/// The lock file stays with its data file: processes that have F open continue to use it, those
/// that open F under its new name share it, and those that open G create a new one. A file with two
/// names, one of them a former name, indicates a replacement that was interrupted before step 3;
/// the next opening undoes the steps. Neither file can be opened between steps 1 and 3; see
/// ``OpeningLock``.
struct FileReplacement {
  /// The suffix of the former file's name if the file is kept.
  static let keptSuffix = "-before"
  /// The suffix of the former file's name if the file is removed at the end.
  static let removedSuffix = "-swap"

  private let path: String
  private let staged: String
  private let keepsFormer: Bool
  private let former: String

  init(of path: String, by staged: String, keepsFormer: Bool) {
    self.path = path
    self.staged = staged
    self.keepsFormer = keepsFormer
    former = path + (keepsFormer ? Self.keptSuffix : Self.removedSuffix)
  }

  /// Performs the steps. The caller must hold the opening locks of both files and the writer lock
  /// of the replaced one. No process may have the other one open.
  ///
  /// - Throws: ``LMDBError/system(errno:)`` with `EEXIST` if a kept file already exists; other
  ///   system errors. The path refers to the same file as before, unless only the last
  ///   synchronization of the folder failed.
  func run() throws(LMDBError) {
    // Left over from a replacement that was killed after the last step.
    if !keepsFormer { unlink(former) }
    // A lock file without its data file would be mistaken for the lock file of the file that
    // receives this name.
    if access(former, F_OK) != 0, errno == ENOENT { unlink(Self.lock(of: former)) }
    guard link(path, former) == 0 else { throw .lastSystemError }
    do throws(LMDBError) {
      // The former file must never be without a name, in whatever order the system writes.
      try Folder.synchronize(of: path)
      // No process can have the lock file open if its data file is gone.
      unlink(Self.lock(of: staged))
      guard Self.moveLock(of: path, to: former), rename(staged, path) == 0 else {
        throw .lastSystemError
      }
    } catch {
      _ = Self.undo(path, former)
      throw error
    }
    if !keepsFormer {
      unlink(Self.lock(of: former))
      unlink(former)
    }
    try Folder.synchronize(of: path)
  }

  // MARK: Interrupted replacements

  /// Handles a file that has two names: waits for a replacement in progress, or undoes an
  /// interrupted one. Returns `true` if the path should be checked again, or `false` if the second
  /// name has another cause.
  static func settle(_ path: String, _ identity: FileIdentity) -> Bool {
    let settled = try? OpeningLock.exclusively(path, identity) {
      var status = stat()
      guard stat(path, &status) == 0, status.st_nlink > 1 else { return true }
      return [keptSuffix, removedSuffix].contains { suffix in
        FileIdentity(path: path + suffix) == identity && undo(path, path + suffix)
      }
    }
    // Without the lock, another process may still have settled it.
    return settled ?? (FileIdentity(path: path) != identity)
  }

  /// Restores a file's lock file and removes its second name. Returns `false` on failure.
  private static func undo(_ path: String, _ former: String) -> Bool {
    if access(lock(of: former), F_OK) == 0 {
      guard moveLock(of: former, to: path) else { return false }
    } else if errno != ENOENT {
      // Processes that have the file open may share a lock file that still has the other name.
      return false
    }
    return unlink(former) == 0
  }

  /// Moves a lock file, replacing one that no process can have open. The lock file may be missing.
  /// Returns `false` on failure.
  private static func moveLock(of path: String, to target: String) -> Bool {
    if rename(lock(of: path), lock(of: target)) == 0 { return true }
    guard errno == ENOENT else { return false }
    return unlink(lock(of: target)) == 0 || errno == ENOENT
  }

  private static func lock(of path: String) -> String { path + "-lock" }
}
