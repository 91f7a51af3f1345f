import Foundation
import Testing

@testable import LMDB

/// Compacting a file while it is open.
@Suite struct EnvironmentCompactionTests {
  private let folder: TemporaryFolder
  private let environment: Environment
  private var path: String { folder.file("store.arbor") }
  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
  }

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
  }

  private func compact(
    _ finish: (borrowing WriteTransaction) throws(LMDBError) -> Void = { _ in }
  ) throws {
    let staged = try UnfinishedFile(beside: path)
    defer {
      unlink(staged.path + "-lock")
      unlink(staged.path)
    }
    try environment.compact(by: staged, finish: finish)
  }

  private func fill(_ name: String, _ count: UInt64 = 2000) throws -> Database {
    try environment.write { transaction in
      let database = try transaction.createDatabase(name, .integerKey)
      for key in 0..<count {
        try transaction.put(
          database, key.nativeBytes, [UInt8](repeating: UInt8(key % 251), count: 200))
      }
      return database
    }
  }

  private func count(_ database: Database) throws -> Int {
    try environment.statistics(of: database).entries
  }

  @Test("A compacted file is smaller and remains usable")
  func everythingGoesOnInASmallerFile() throws {
    let kept = try fill("kept", 10)
    let filled = try fill("filled")
    try environment.write { try $0.clear(filled) }
    let before = (
      environment.identity, try environment.file.size, try environment.lastTransactionID
    )
    try compact { transaction throws(LMDBError) in
      _ = try? transaction.put(kept, UInt64(10).nativeBytes, [1])
    }
    #expect(environment.identity != before.0 && environment.identity == FileIdentity(path: path))
    #expect(try environment.file.size < before.1 / 4)
    #expect(try environment.lastTransactionID > before.2)
    #expect(try (count(kept), count(filled)) == (11, 0))
    #expect(try environment.value(kept, UInt64(3).nativeBytes) == [UInt8](repeating: 3, count: 200))
    _ = try fill("filled", 30)
    #expect(try count(filled) == 30)
    #expect(names == ["store.arbor", "store.arbor-lock"])
    #expect(try Environment.open(path: path) === environment)
    try environment.verifyPages()
    try environment.close()
    let again = try Environment.open(path: path)
    #expect(again !== environment)
    let database = try #require(try again.openDatabase("filled", .integerKey, create: false))
    #expect(try again.statistics(of: database).entries == 30)
  }

  @Test("Handles freed by deleted databases stay free, and all other databases keep theirs")
  func handlesStayWhereDatabasesWereDeleted() throws {
    let first = try fill("first", 1)
    let list = try (0..<4).map { try fill("other \($0)", UInt64($0) + 2) }
    for gone in [first, list[1]] { try environment.write { try $0.deleteDatabase(gone) } }
    try compact()
    #expect(try [list[0], list[2], list[3]].map(count) == [2, 4, 5])
    #expect(try environment.databaseNames() == ["other 0", "other 2", "other 3"])
    let new = try (0..<3).map { try fill("new \($0)", UInt64($0) + 1) }
    #expect(try new.map(count) == [1, 2, 3])
    #expect(try [list[0], list[2], list[3]].map(count) == [2, 4, 5])
    try environment.verifyPages()
  }

  /// The lock file belongs to the new file, so another process reads and writes as before.
  @Test("Another process uses the compacted file")
  func anotherProcessMeetsTheNewFile() async throws {
    let database = try fill("it", 5)
    try compact()
    let snapshot = try environment.beginRead()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Environment.open(path: path)
      #expect(
        try other.readers().contains { $0.processID == getppid() && $0.transactionID != nil })
      let database = try #require(try other.openDatabase("it", .integerKey, create: false))
      try other.write { try $0.put(database, UInt64(9).nativeBytes, [9]) }
    }
    #expect(try snapshot.bytes(database, UInt64(9).nativeBytes) == nil)
    #expect(try environment.value(database, UInt64(9).nativeBytes) == [9])
    try environment.write { try $0.delete(database, UInt64(9).nativeBytes) }
  }

  @Test("Compaction is refused while another process has the file open")
  func refusesWhileAnotherProcessHasItOpen() async throws {
    let database = try fill("it", 5)
    let identity = environment.identity
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Environment.open(path: path)
      let staged = try UnfinishedFile(beside: path)
      defer { unlink(staged.path) }
      #expect(throws: LMDBError.inUse) { try other.compact(by: staged) { _ in } }
      try other.write { _ in }
    }
    #expect(environment.identity == identity)
    try environment.write { try $0.delete(database, UInt64(1).nativeBytes) }
  }

  @Test("Compaction is refused while its thread holds a snapshot")
  func refusesUnderASnapshotOfItsThread() throws {
    let database = try fill("it", 5)
    let before = (environment.identity, names)
    do {
      let snapshot = try environment.beginRead()
      #expect(throws: LMDBError.inUse) { try compact() }
      _ = snapshot.id
    }
    #expect(throws: LMDBError.notFound) { try compact { _ throws(LMDBError) in throw .notFound } }
    #expect(environment.identity == before.0 && names == before.1)
    #expect(try count(database) == 5)
    try environment.write { try $0.clear(database) }
    try compact()
    #expect(try count(database) == 0)
  }

  @Test("Readers on other threads continue during compaction and always see the same state")
  func readersGoOn() throws {
    let database = try fill("it")
    let environment = environment
    let rounds = 6
    DispatchQueue.concurrentPerform(iterations: 3) { worker in
      do {
        if worker == 0 {
          for _ in 0..<rounds { try compact() }
        } else {
          for _ in 0..<300 { #expect(try environment.statistics(of: database).entries == 2000) }
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(try environment.value(database, UInt64(7).nativeBytes)?.count == 200)
  }

  @Test("Transaction IDs keep increasing, whichever root page is the newest", arguments: 0..<3)
  func transactionsCountOn(_ commits: Int) throws {
    for _ in 0..<commits { _ = try fill("it", 3) }
    for _ in 0..<3 {
      let before = try environment.lastTransactionID
      try compact()
      #expect(try environment.lastTransactionID > before)
    }
    try environment.verifyPages()
  }
}
