import ArborLocks
import Foundation
import LMDB
import Testing

/// Replacing a file that processes have open. Each file contains its generation number.
@Suite struct EnvironmentReplacingTests {
  private let folder: TemporaryFolder
  private let path: String
  private let staged: String
  private var former: String { Environment.formerPath(of: path) }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    staged = folder.file("staged")
    try folder.environment().setGeneration(1)
  }

  /// The files in the folder, including lock files.
  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
  }

  /// Stages the next generation of the file and replaces the file with it.
  private static func advance(_ path: String, keepsFormer: Bool = false) throws {
    let staged = path + "-staged"
    unlink(staged)
    let next = try stage(path, staged)
    try Environment.replaceFile(at: path, by: staged, keepsFormer: keepsFormer) { _, _ in }
    #expect(try Environment.open(path: path).generation() == next)
  }

  private static func stage(_ path: String, _ staged: String) throws -> UInt64 {
    let environment = try Environment.open(path: path)
    try environment.copy(to: staged, compacting: false)
    let next = try environment.generation() + 1
    try Environment.open(path: staged).setGeneration(next)
    return next
  }

  @Test("After a replacement, readers continue and writers are refused")
  func readersGoOnAndWritersAreRefused() async throws {
    let environment = try Environment.open(path: path)
    #expect(try environment.generation() == 1)
    let snapshot = try environment.beginRead()
    await #expect(processExitsWith: .success) { [path = path as String] in
      try Self.advance(path, keepsFormer: true)
    }
    // New snapshots are also of the file that was opened.
    #expect(try snapshot.bytes(environment.generations(), [1]) == UInt64(1).nativeBytes)
    #expect(try environment.generation() == 1)
    #expect(throws: LMDBError.fileReplaced) { try environment.setGeneration(5) }
    #expect(try environment.generation() == 1)
    let next = try Environment.open(path: path)
    #expect(next !== environment)
    #expect(try next.generation() == 2)
    try next.setGeneration(3)
    // The former file keeps its lock file.
    #expect(try Environment.open(path: former) === environment)
    #expect(
      names == [
        "store.arbor", "store.arbor-lock", "store.arbor-before", "store.arbor-before-lock",
      ])
    await #expect(processExitsWith: .success) { [path = path as String] in
      let parent = getppid()
      let former = try Environment.open(path: Environment.formerPath(of: path))
      #expect(try former.readers().contains { $0.processID == parent && $0.transactionID != nil })
      let next = try Environment.open(path: path)
      #expect(try next.readers().allSatisfy { $0.processID != parent || $0.transactionID == nil })
      #expect(try next.generation() == 3)
    }
    _ = snapshot.id
  }

  /// A former file that is open can't be moved back. Otherwise, two lock files would exist for one
  /// file.
  @Test("A former file that is open can't be moved back")
  func aFormerFileThatIsOpenDoesNotComeBack() async throws {
    let environment = try Environment.open(path: path)
    await #expect(processExitsWith: .success) { [path = path as String] in
      try Self.advance(path, keepsFormer: true)
      #expect(throws: LMDBError.inUse) {
        try Environment.replaceFile(
          at: path, by: Environment.formerPath(of: path), keepsFormer: false
        ) { _, _ in }
      }
    }
    try environment.close()
    try Environment.replaceFile(at: path, by: former, keepsFormer: false) { _, _ in }
    #expect(try Environment.open(path: path).generation() == 1)
    #expect(names == ["store.arbor", "store.arbor-lock"])
  }

  @Test("Files that can't be replaced are refused and unchanged")
  func refusesWhatItCannotReplace() async throws {
    let next = try Self.stage(path, staged)
    #expect(next == 2)
    func refuse(_ error: LMDBError, by staged: String, keepsFormer: Bool = false) {
      let before = names
      #expect(throws: error) {
        try Environment.replaceFile(at: path, by: staged, keepsFormer: keepsFormer) { _, _ in }
      }
      #expect(names == before)
    }
    // One of the files is open in this process.
    for open in [path, staged] {
      let environment = try Environment.open(path: open)
      refuse(.inUse, by: staged)
      try environment.close()
    }
    refuse(.inUse, by: path)
    refuse(.noSuchFile, by: folder.file("missing"))
    try Data("no file of LMDB's".utf8).write(to: URL(filePath: folder.file("foreign")))
    refuse(.invalid, by: folder.file("foreign"))
    try Data().write(to: URL(filePath: folder.file("empty")))
    refuse(.fileTooSmall, by: folder.file("empty"))
    try Data([1]).write(to: URL(filePath: former))
    refuse(.system(errno: EEXIST), by: staged, keepsFormer: true)
    unlink(former)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try Environment.replaceFile(at: path, by: staged, keepsFormer: true) { _, transaction in
        let database = try #require(try transaction.openDatabase("it", [], create: false))
        #expect(try transaction.bytes(database, [1]) == UInt64(1).nativeBytes)
        throw Refusal()
      }
    }
    let process = try Environment.open(path: staged)
    await #expect(processExitsWith: .success) {
      [path = path as String, staged = staged as String] in
      #expect(throws: LMDBError.inUse) {
        try Environment.replaceFile(at: path, by: staged, keepsFormer: false) { _, _ in }
      }
    }
    try process.close()
    #expect(try Environment.open(path: path).generation() == 1)
    #expect(try Environment.open(path: path).identity == FileIdentity(path: path))
  }

  /// Two processes that open a file while a third one replaces it never disagree about its lock
  /// file; see ``Opener``.
  @Test("Processes that open a file during replacements agree on its lock file")
  func noOpenersShareALockFileButNotTheFile() async throws {
    let swaps = 15
    let end = folder.file("end")
    async let first: Void = open(until: end)
    async let second: Void = open(until: end)
    await #expect(processExitsWith: .success) {
      [path = path as String, end = end as String, swaps = swaps as Int] in
      defer { _ = FileManager.default.createFile(atPath: end, contents: nil) }
      for _ in 0..<swaps { try Self.advance(path) }
    }
    _ = await (first, second)
    #expect(try Environment.open(path: path).generation() == UInt64(1 + swaps))
    #expect(names == ["store.arbor", "store.arbor-lock", "end"])
  }

  private func open(until end: String) async {
    await #expect(processExitsWith: .success) { [path = path as String, end = end as String] in
      while access(end, F_OK) != 0 {
        try Opener.open(path)
        // The process that ends the loop may not have started yet.
        usleep(500)
      }
    }
  }

  /// After a kill at any moment, the path refers to a complete file, every process that opens it
  /// can write, and no other lock file is created for the former file.
  @Test("A kill during a replacement leaves one complete file")
  func aKillLeavesOneOfTheTwo() async throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3 {
      let delay = Double.random(in: 0...0.03, using: &random)
      let before = try Environment.open(path: path).generation()
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Double] in
        // A separate thread, because the process may otherwise be blocked.
        Thread.detachNewThread {
          Thread.sleep(forTimeInterval: delay)
          kill(getpid(), SIGKILL)
        }
        while true {
          try Self.advance(path, keepsFormer: true)
          unlink(Environment.formerPath(of: path))
          unlink(Environment.formerPath(of: path) + "-lock")
        }
      }
      let environment = try Environment.open(path: path)
      let found = try environment.generation()
      #expect(found >= before, "killed after \(delay) s")
      try environment.setGeneration(found)
      #expect(names.contains("store.arbor-lock"))
      try environment.close()
      unlink(former)
      unlink(former + "-lock")
    }
  }
}

/// Opens the file and checks that it got the file's own lock file.
private enum Opener {
  static func open(_ path: String) throws {
    let environment = try Environment.open(path: path)
    let snapshot = try environment.beginRead()
    // Every generation is one commit, so a different transaction ID means a different file.
    for reader in try environment.readers() {
      if let transaction = reader.transactionID { #expect(transaction == UInt64(snapshot.id)) }
    }
    // As long as the path refers to this file, opening it must yield this lock file.
    let isSame = FileIdentity(path: path) == environment.identity
    let lock = FileIdentity(path: path + "-lock")
    if isSame, let lock, FileIdentity(path: path) == environment.identity {
      #expect(try lockFiles().contains(lock))
    }
    _ = snapshot.id
  }

  /// Returns the lock files that this process has open.
  private static func lockFiles() throws -> [FileIdentity] {
    let folder = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
      guard target?.contains("-lock") == true else { return nil }
      return FileIdentity(path: "\(folder)/\(name)")
    }
  }
}

extension Environment {
  fileprivate func generations() throws -> Database {
    try #require(try openDatabase("it", [], create: false))
  }

  fileprivate func setGeneration(_ generation: UInt64) throws {
    try write { transaction in
      let database = try transaction.createDatabase("it", [])
      try transaction.put(database, [1], generation.nativeBytes)
    }
  }

  fileprivate func generation() throws -> UInt64 {
    let bytes = try #require(try value(generations(), [1]))
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }
}
