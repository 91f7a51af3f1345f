#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The steps by which a complete file takes the place of another that processes may have open.
///
/// ```
///            NAME    NAME-lock   NAME-before   NAME-before-lock   STAGED
/// before      F         f                                           G
/// 1 link      F         f            F                              G
/// 2 rename    F                      F               f              G
/// 3 rename    G                      F               f
/// ```
///
/// The lock file goes with the file it belongs to: processes that have F open go on with it, those
/// that open F under its new name share it, and those that open G make a new one. A file with two
/// names, one of which is a former one, tells of a replacement that ended before step 3; the next
/// opening takes the steps back. Nobody opens either file between step 1 and 3, see
/// ``OpeningLock``.
struct FileReplacement {
  /// What the former file is called if it is kept, and if it is removed at the end.
  static let keptSuffix = "-before"
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

  /// Takes the steps. The caller holds the opening locks of both files and the writer's lock of the
  /// one that goes; nobody has the other one open.
  ///
  /// - Throws: ``LMDBError/system(errno:)`` with `EEXIST` where a kept file exists already; other
  ///   errors of the system. The path leads to the file it led to before, unless only the last
  ///   synchronization of the folder failed.
  func run() throws(LMDBError) {
    // What a replacement left that was killed after the last step.
    if !keepsFormer { unlink(former) }
    // A lock file without its data file would be taken for the one that comes here.
    if access(former, F_OK) != 0, errno == ENOENT { unlink(Self.lock(of: former)) }
    guard link(path, former) == 0 else { throw .lastSystemError }
    do throws(LMDBError) {
      // The former file must never be without a name, whatever the system writes first.
      try Folder.synchronize(of: path)
      // Of a file that has lost its data file nobody can have the lock file open.
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

  // MARK: What an interrupted one left

  /// Deals with a file that has two names: waits for a replacement that is under way, takes one
  /// back that was interrupted. True where there is reason to look at the path again; false where
  /// somebody else gave the file its second name.
  static func settle(_ path: String, _ identity: FileIdentity) -> Bool {
    let settled = try? OpeningLock.exclusively(path, identity) {
      var status = stat()
      guard stat(path, &status) == 0, status.st_nlink > 1 else { return true }
      return [keptSuffix, removedSuffix].contains { suffix in
        FileIdentity(path: path + suffix) == identity && undo(path, path + suffix)
      }
    }
    // Without the lock there is still a chance that somebody else has settled it.
    return settled ?? (FileIdentity(path: path) != identity)
  }

  /// Gives a file its lock file back and takes its second name away; false where that fails.
  private static func undo(_ path: String, _ former: String) -> Bool {
    if access(lock(of: former), F_OK) == 0 {
      guard moveLock(of: former, to: path) else { return false }
    } else if errno != ENOENT {
      // Those who have the file open may share a lock file that is still under the other name.
      return false
    }
    return unlink(former) == 0
  }

  /// Also takes the place of a lock file that nobody can have open; there need not be any.
  private static func moveLock(of path: String, to target: String) -> Bool {
    if rename(lock(of: path), lock(of: target)) == 0 { return true }
    guard errno == ENOENT else { return false }
    return unlink(lock(of: target)) == 0 || errno == ENOENT
  }

  private static func lock(of path: String) -> String { path + "-lock" }
}
