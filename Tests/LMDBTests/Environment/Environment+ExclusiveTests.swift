import Foundation
import Testing
import LMDB

@Suite struct EnvironmentExclusiveTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
  }

  @Test("Exclusive access is refused while another process has the file open")
  func refusesWhileAnotherProcessHasItOpen() async throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", [], create: true))
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      do {
        try Environment.withExclusiveLock(path: path) { exit(1) }
      } catch LMDBError.inUse {}
      let other = try Environment.open(path: path)
      do {
        try other.withExclusiveLock { exit(2) }
      } catch LMDBError.inUse {}
      // The other environment remains usable.
      try other.write { transaction in
        let database = try transaction.createDatabase("it", [])
        try transaction.put(database, [1], [1])
      }
      exit(3)
    }
    #expect(try environment.value(database, [1]) == [1])
  }

  @Test("Exclusive access keeps out other openers, readers and writers")
  func keepsOthersOutMeanwhile() async throws {
    let environment = try folder.environment()
    let path = path
    try environment.withExclusiveLock {
      #expect(throws: LMDBError.inUse) { try Environment.withExclusiveLock(path: path) {} }
      #expect(throws: LMDBError.nestedWrite) { try environment.write { _ in } }
      // The thread that holds exclusive access may read.
      _ = try environment.beginRead().id
      let reader = DispatchSemaphore(value: 0)
      Thread {
        if (try? environment.beginRead().id) != nil { reader.signal() }
      }.start()
      #expect(reader.wait(timeout: .now() + 0.05) == .timedOut)
    }
    try environment.write { _ in }
  }

  @Test("A file can be closed and replaced under the exclusive lock")
  func closesAndReplacesTheFile() throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", [], create: true))
    try environment.write { try $0.put(database, [1], [1]) }
    let copy = folder.file("copy")
    try environment.withExclusiveLock {
      try environment.copy(to: copy, compacting: true)
      try environment.close()
      #expect(rename(copy, path) == 0)
    }
    #expect(throws: LMDBError.closed) { _ = try environment.beginRead() }
    let compacted = try Environment.open(path: path)
    #expect(compacted.identity != environment.identity)
    let same = try #require(try compacted.openDatabase("it", [], create: false))
    #expect(try compacted.value(same, [1]) == [1])
  }

  @Test("A replaced file is detected")
  func noticesThatItsFileWasReplaced() throws {
    let environment = try folder.environment()
    try folder.environment("other.arbor").close()
    #expect(rename(folder.file("other.arbor"), path) == 0)
    #expect(throws: LMDBError.fileReplaced) { try environment.withExclusiveLock {} }
    #expect(throws: LMDBError.fileReplaced) { _ = try environment.beginRead() }
    let replaced = try Environment.open(path: path)
    #expect(replaced !== environment)
  }

  @Test("A file that is not a store can be locked")
  func locksAFileThatIsNoStore() throws {
    try Data("damaged".utf8).write(to: URL(filePath: path))
    try Environment.withExclusiveLock(path: path) {
      #expect(throws: LMDBError.inUse) { try Environment.open(path: path) }
      #expect(unlink(path) == 0)
    }
    #expect(throws: LMDBError.noSuchFile) { try Environment.withExclusiveLock(path: path) {} }
    let environment = try folder.environment()
    #expect(throws: LMDBError.inUse) { try Environment.withExclusiveLock(path: path) {} }
    try environment.write { _ in }
  }

  @Test("A file can be removed under the exclusive lock")
  func removesTheFile() throws {
    let environment = try folder.environment()
    try environment.withExclusiveLock {
      try environment.close()
      unlink(path)
      unlink(path + "-lock")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
