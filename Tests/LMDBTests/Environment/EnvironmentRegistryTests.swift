import ArborLocks
import Foundation
import Testing

@testable import LMDB

@Suite struct EnvironmentRegistryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ path: String) throws -> Environment { try Environment.open(path: path) }

  @Test("Different spellings of a path share one environment")
  func sharesOneFileUnderEverySpelling() throws {
    let first = try folder.environment()
    let path = folder.file("store.arbor")
    try FileManager.default.createDirectory(
      atPath: folder.file("sub"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("sub/up"), withDestinationPath: folder.path)
    let spellings = [
      path, folder.path + "/./store.arbor", folder.path + "//sub/../store.arbor",
      folder.file("link"), folder.file("sub/up/store.arbor"), folder.file("sub/up/link"),
    ]
    for spelling in spellings { #expect(try open(spelling) === first, "\(spelling)") }
    #expect(try folder.environment("other.arbor") !== first)
  }

  @Test("A file can be reopened after its last reference is released")
  func opensAgainAfterTheLastReference() throws {
    var first: Environment? = try folder.environment()
    let identity = try #require(first?.identity)
    weak let seen = first
    first = nil
    #expect(seen == nil)
    let again = try open(folder.file("store.arbor"))
    #expect(again.identity == identity)
  }

  @Test("A file can be reopened after closing")
  func opensAgainAfterClosing() throws {
    let first = try folder.environment()
    let database = try #require(try first.openDatabase("it", [], create: true))
    try first.write { try $0.put(database, [1], [1]) }
    try first.close()
    try first.close()
    #expect(throws: LMDBError.closed) { _ = try first.beginRead() }
    #expect(throws: LMDBError.closed) { try first.write { _ in } }
    #expect(throws: LMDBError.closed) { try first.info() }
    let second = try open(folder.file("store.arbor"))
    #expect(second !== first)
    let same = try #require(try second.openDatabase("it", [], create: false))
    #expect(try second.value(same, [1]) == [1])
  }

  @Test("An environment can't be closed during a transaction")
  func doesNotCloseUnderATransaction() throws {
    let environment = try folder.environment()
    do {
      let transaction = try environment.beginRead()
      #expect(throws: LMDBError.inUse) { try environment.close() }
      _ = transaction.id
    }
    try environment.write { _ in
      #expect(throws: LMDBError.inUse) { try environment.close() }
    }
    try environment.close()
  }

  @Test("Threads that have a file open at the same time share one environment")
  func opensAndClosesFromManyThreads() throws {
    try folder.environment().close()
    let path = folder.file("store.arbor")
    let failures = Lock<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<200 {
        do {
          let one = try Environment.open(path: path)
          let two = try Environment.open(path: path)
          if one !== two { failures.withLock { $0.append("two environments") } }
          _ = try one.beginRead().id
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
  }

  @Test("A read-only environment rejects writers")
  func doesNotWriteWhereItWasOpenedForReading() throws {
    try folder.environment().close()
    let path = folder.file("store.arbor")
    var reading = EnvironmentOptions()
    reading.isReadOnly = true
    let reader = try Environment.open(path: path, options: reading)
    #expect(throws: LMDBError.readOnlyEnvironment) { try reader.write { _ in } }
    #expect(throws: LMDBError.readOnlyEnvironment) { try Environment.open(path: path) }
    #expect(try Environment.open(path: path, options: reading) === reader)
    #expect(try reader.openDatabase("it", [], create: true) == nil)
  }

  @Test("A reserved file can't be opened")
  func keepsEverybodyOutOfAReservedFile() throws {
    try folder.environment().close()
    let path = folder.file("store.arbor")
    let identity = try #require(FileIdentity(path: path))
    try EnvironmentRegistry.shared.reserving(identity) {
      #expect(throws: LMDBError.inUse) { try open(path) }
      #expect(throws: LMDBError.inUse) {
        try EnvironmentRegistry.shared.reserving(identity) {}
      }
    }
    let environment = try open(path)
    #expect(throws: LMDBError.inUse) { try EnvironmentRegistry.shared.reserving(identity) {} }
    _ = environment.path
  }
}
