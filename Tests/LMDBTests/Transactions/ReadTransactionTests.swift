import Foundation
import Testing
import LMDB

@Suite struct ReadTransactionTests {
  private let folder: TemporaryFolder
  private let environment: Environment
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment { $0.maximumReaders = 8 }
    database = try #require(try environment.openDatabase("it", [], create: true))
  }

  private func put(_ value: UInt8) throws {
    try environment.write { try $0.put(database, [1], [value]) }
  }

  @Test("A snapshot doesn't change after later commits")
  func staysWhereItBegan() throws {
    try put(1)
    let first = try environment.beginRead()
    try put(2)
    let second = try environment.beginRead()
    try put(3)
    let found = [try first.bytes(database, [1]), try second.bytes(database, [1])]
    #expect(found == [[1], [2]])
    let isNext = second.id == first.id + 1
    #expect(isNext)
    #expect(try environment.value(database, [1]) == [3])
    #expect(try environment.lastTransactionID == second.id + 1)
  }

  @Test("Idle snapshots are reused, so consecutive reads occupy one reader slot")
  func isPooled() throws {
    try put(1)
    for _ in 0..<100 { #expect(try environment.value(database, [1]) == [1]) }
    #expect(try environment.info().readers == 1)
    do {
      let first = try environment.beginRead()
      let second = try environment.beginRead()
      _ = (first.id, second.id)
    }
    #expect(try environment.info().readers == 2)
    #expect(try environment.readers().allSatisfy { $0.transactionID == nil })
  }

  @Test("A snapshot can be used on another thread")
  func movesBetweenThreads() throws {
    struct Box: ~Copyable, @unchecked Sendable {
      let transaction: ReadTransaction
    }
    try put(4)
    let box = Box(transaction: try environment.beginRead())
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var found: [UInt8]?
    withUnsafePointer(to: box) { pointer in
      nonisolated(unsafe) let pointer = pointer
      let database = database
      Thread {
        found = try? pointer.pointee.transaction.bytes(database, [1])
        done.signal()
      }.start()
      done.wait()
    }
    #expect(found == [4])
  }

  @Test("Opening a snapshot fails if all reader slots are taken")
  func saysWhenAllSlotsAreTaken() throws {
    try put(1)
    try hold(8) {
      #expect(throws: LMDBError.readersFull) { _ = try environment.beginRead() }
    }
    #expect(try environment.value(database, [1]) == [1])
    try hold(8) {}
  }

  /// Holds `count` snapshots while `body` runs.
  private func hold(_ count: Int, _ body: () throws -> Void) throws {
    if count == 0 { return try body() }
    let snapshot = try environment.beginRead()
    try hold(count - 1, body)
    _ = snapshot.id
  }

  @Test("A snapshot ends when the closure throws")
  func endsWhenTheClosureThrows() throws {
    struct Stop: Error {}
    for _ in 0..<20 {
      #expect(throws: Stop.self) { try environment.read { _ in throw Stop() } }
    }
    #expect(try environment.info().readers == 1)
  }

  @Test("Concurrent readers see complete commits, and never an older one than before")
  func seesWholeCommitsInOrder() throws {
    let other = try #require(try environment.openDatabase("other", [], create: true))
    let environment = environment
    let database = database
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      do {
        if worker == 0 {
          for value in 0..<400 {
            try environment.write { transaction in
              try transaction.put(database, [1], UInt64(value).nativeBytes)
              try transaction.put(other, [1], UInt64(value).nativeBytes)
            }
          }
          return
        }
        var last: UInt64 = 0
        for _ in 0..<2000 {
          let transaction = try environment.beginRead()
          let left = try transaction.get(database, key: [1])?.loadUnaligned(as: UInt64.self)
          let right = try transaction.get(other, key: [1])?.loadUnaligned(as: UInt64.self)
          if left != right || transaction.id < last { Issue.record("torn or older") }
          last = transaction.id
        }
      } catch {
        Issue.record(error)
      }
    }
  }
}
