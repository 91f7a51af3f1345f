import ArborLocks
import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Opening and closing stores that share a log, concurrently with others.
@Suite struct SharedOpenerTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ name: String, through given: (any CommitLog)? = nil, every interval: Duration = .seconds(3600)
  ) throws -> PersistentStore {
    try Self.open(folder.path("\(name).arbor"), given ?? log, interval)
  }

  private static func open(
    _ path: String, _ log: any CommitLog, _ interval: Duration = .seconds(3600)
  ) throws -> PersistentStore {
    try PersistentStore(for: Office.classes, at: .path(path), following: log, every: interval)
  }

  private static func insert(_ name: String, _ store: PersistentStore) throws {
    let context = store.makeContext()
    context.insert(Company.self).name = name
    try context.commit()
  }

  @Test("A store that starts the log too late takes over the existing store")
  func lateBeginning() throws {
    let first = Lock<PersistentStore?>(nil)
    let (path, log) = (folder.path("a.arbor"), log)
    let late = StrictLog(log) {
      do {
        let store = try Self.open(path, log)
        try Self.insert("Ada", store)
        first.withLock { $0 = store }
      } catch { Issue.record(error) }
    }
    let b = try open("b", through: late)
    let a = try #require(first.withLock { $0 })
    #expect(b.id == a.id && b.sequence == 1)
    try Self.insert("Grace", b)
    try a.catchUp()
    #expect(try a.makeContext().count("Company") == 2)
    for store in [a, b] {
      try store.check()
      store.close()
    }
  }

  @Test("A store in use that starts the log too late gets an error and remains independent")
  func lateSharing() throws {
    let other = try PersistentStore(for: Office.classes, at: .path(folder.path("own.arbor")))
    defer { other.close() }
    let (path, log) = (folder.path("a.arbor"), log)
    let late = StrictLog(log) {
      do { try Self.open(path, log).close() } catch { Issue.record(error) }
    }
    let error = #expect(throws: ArborError.self) { try other.share(through: late) }
    #expect(error?.code == .notAllowed)
    #expect(
      error?.message
        == "The log simulated already exists. Open a store that follows the log.")
    try Self.insert("Ada", other)
    #expect(other.sharing == nil)
  }

  @Test("Closing waits until the threads of the log have ended")
  func closing() throws {
    let slow = SlowHead(log)
    let store = try open("a", through: slow, every: .milliseconds(1))
    slow.isSlow.withLock { $0 = true }
    slow.hasBegun.wait()
    #expect(!slow.hasEnded.withLock { $0 })
    store.close()
    #expect(slow.hasEnded.withLock { $0 })
    #expect(slow.waits.withLock { $0 } == 1)
    // Closing it again doesn't wait.
    store.close()
  }
}

/// A log that rejects snapshots of other stores, as a server does. Another machine starts it first.
private final class StrictLog: PassedLog, @unchecked Sendable {
  private let beginFirst: @Sendable () -> Void
  private let hasBegun = Lock(false)

  init(_ log: any CommitLog, _ beginFirst: @escaping @Sendable () -> Void) {
    self.beginFirst = beginFirst
    super.init(log)
  }

  override func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    let isFirst = hasBegun.withLock { hasBegun in
      defer { hasBegun = true }
      return !hasBegun
    }
    if isFirst { beginFirst() }
    if let head = try head(), head.store != snapshot.store {
      throw ArborError(.invalidArgument, "The log is another store's.")
    }
    try super.publish(snapshot, in: file)
  }
}

/// A log that responds slowly.
private final class SlowHead: PassedLog, @unchecked Sendable {
  let isSlow = Lock(false)
  let hasBegun = DispatchSemaphore(value: 0)
  let hasEnded = Lock(false)
  let waits = Lock(0)

  override func head() throws(ArborError) -> CommitLogHead? {
    if isSlow.withLock({ $0 }) {
      hasBegun.signal()
      Thread.sleep(forTimeInterval: 0.2)
      hasEnded.withLock { $0 = true }
    }
    return try super.head()
  }

  override func waitUntilIdle() { waits.withLock { $0 += 1 } }
}
