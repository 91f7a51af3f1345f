import Foundation
import Testing

@testable import LMDB

/// Unusable files at the path of the lock file.
@Suite struct LockFileTests {
  private let folder: TemporaryFolder
  private let path: String
  private var lockPath: String { path + "-lock" }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    try folder.environment().close()
    unlink(path + "-lock")
  }

  private func problem(readOnly: Bool) -> LockFileProblem.Kind? {
    var options = EnvironmentOptions()
    options.isReadOnly = readOnly
    do throws(LMDBError) {
      try Environment.open(path: path, options: options).close()
    } catch .lockFile(let problem) {
      #expect(problem.path == lockPath)
      return problem.kind
    } catch {
      Issue.record(error)
    }
    return nil
  }

  @Test("An unusable file at the lock file's path is reported", arguments: [true, false])
  func whatIsNoPlainFileIsNamed(readOnly: Bool) throws {
    #expect(mkdir(lockPath, 0o700) == 0)
    #expect(problem(readOnly: readOnly) == .directory)
    #expect(rmdir(lockPath) == 0)
    #expect(mkfifo(lockPath, 0o600) == 0)
    #expect(problem(readOnly: readOnly) == .notRegular)
    unlink(lockPath)
    // LMDB would create the target of the link.
    #expect(symlink(folder.file("elsewhere"), lockPath) == 0)
    #expect(problem(readOnly: readOnly) == .notRegular)
    #expect(access(folder.file("elsewhere"), F_OK) != 0)
    unlink(lockPath)
    #expect(problem(readOnly: readOnly) == nil)
  }

  @Test(
    "If a privileged process opens another user's store, that user owns the new lock file",
    .enabled(if: geteuid() == 0))
  func aNewOneIsOfTheOwnerOfTheData() throws {
    #expect(chown(path, 4711, 4712) == 0)
    #expect(problem(readOnly: true) == nil)
    var status = stat()
    #expect(stat(lockPath, &status) == 0)
    #expect(status.st_uid == 4711 && status.st_gid == 4712 && status.st_mode & 0o777 == 0o600)
  }

  @Test("A lock file that another user owns is reported as such", .enabled(if: geteuid() == 0))
  func anotherUsersIsNamed() async throws {
    #expect(chmod(folder.path, 0o777) == 0 && chmod(path, 0o666) == 0)
    try Data().write(to: URL(filePath: lockPath))
    #expect(chmod(lockPath, 0o600) == 0)
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      guard setuid(4711) == 0 else { exit(1) }
      do {
        _ = try Environment.open(path: path)
        exit(2)
      } catch LMDBError.lockFile(let problem) {
        exit(problem.kind == .foreign(owner: 0) ? 0 : 3)
      }
    }
    #expect(unlink(lockPath) == 0 && chmod(folder.path, 0o755) == 0)
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      guard setuid(4711) == 0 else { exit(1) }
      do {
        _ = try Environment.open(path: path)
        exit(2)
      } catch LMDBError.lockFile(let problem) {
        exit(problem.kind == .cannotBeMade ? 0 : 3)
      }
    }
  }

  @Test("The message names the owner and the remedy")
  func saysWhatToDo() {
    #expect(
      "\(LMDBError.lockFile(LockFileProblem(path: "/a-lock", kind: .foreign(owner: 0))))"
        == "The lock file /a-lock belongs to the user 0 and is not writable. Remove it while no "
        + "process has the store open, or open the store as the same user everywhere.")
  }
}
