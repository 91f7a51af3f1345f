import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Stores that share their commits through a log.
@Suite struct PersistentStoreSharingTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.path("\(name).arbor") }

  /// Opens a store that reads the log only when requested or notified.
  private func open(
    _ name: String, _ options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    try PersistentStore(
      for: Office.classes, at: .path(path(name)), following: log, options: options,
      every: .seconds(3600))
  }

  @discardableResult
  private func insert(_ name: String, _ store: PersistentStore) throws -> ObjectID {
    let context = store.makeContext()
    let company = context.insert(Company.self)
    company.name = name
    try context.commit()
    return company.objectID
  }

  private func names(_ store: PersistentStore) throws -> [String?] {
    try store.makeContext().fetch(FetchRequest<Company>(sortKeys: ["name"])).map(\.name)
  }

  private func message(_ body: () throws -> Void) -> String? {
    #expect(throws: ArborError.self) { try body() }?.message
  }

  // MARK: Sharing

  @Test("Stores that share a log receive each other's commits")
  func whatOneCommitsTheOtherHas() throws {
    let a = try open("a")
    let ada = try insert("Ada", a)
    let b = try open("b")
    #expect(b.id == a.id && b.sequence == 1)
    #expect(try names(b) == ["Ada"])
    let context = b.makeContext()
    let results = try context.fetchedResults(FetchRequest<Company>(sortKeys: ["name"]))
    try insert("Grace", a)
    #expect(try b.catchUp() == 2)
    #expect(try context.mergeExternalCommits())
    #expect(results.objects.map(\.name) == ["Ada", "Grace"])
    // Both stores commit, each after the other.
    let company = try #require(try context.object(with: ada) as? Company)
    company.founded = Date(timeIntervalSinceReferenceDate: 0)
    try context.commit()
    try insert("Barbara", a)
    #expect(try b.catchUp() == 4)
    #expect(try names(b) == ["Ada", "Barbara", "Grace"])
    #expect(a.sharing?.lag == 0 && b.sharing?.lag == 0)
    #expect(a.sharing?.appends == 3 && b.sharing?.appends == 1)
    // The store may have read the log before it committed.
    #expect(try #require(a.sharing).lostRaces <= 1 && a.sharing?.takenOver == 1)
    for store in [a, b] {
      try store.check()
      store.close()
    }
    // A reopened store has the commits made in the meantime.
    let again = try open("a")
    defer { again.close() }
    try insert("Margaret", again)
    let late = try open("b")
    defer { late.close() }
    #expect(try names(late).count == 4)
  }

  @Test("Unique values are unique across all stores that share a log")
  func valuesAreUniqueOverAllMachines() throws {
    let (a, b) = (try open("a"), try open("b"))
    defer { for store in [a, b] { store.close() } }
    try insert("Ada", a)
    let error = #expect(throws: ArborError.self) { try insert("Ada", b) }
    #expect(error?.code == .notUnique)
    #expect(try names(b) == ["Ada"])
  }

  @Test("Concurrent commits of several stores to one object are retried, and none is lost")
  func commitsThatMeetAreMerged() async throws {
    let (a, b) = (try open("a"), try open("b"))
    defer { for store in [a, b] { store.close() } }
    let id = try await a.perform { $0.insert(Employee.self).objectID }
    try b.catchUp()
    try await withThrowingTaskGroup { group in
      for store in [a, b] {
        for _ in 0..<10 {
          group.addTask {
            try await store.perform(maximumRetries: 100) { context in
              let employee = try context.object(with: id) as? Employee
              employee?.age += 1
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try a.catchUp()
    let age = try await a.perform { (try $0.object(with: id) as? Employee)?.age }
    #expect(age == 38)
  }

  @Test("A store receives commits of others and can wait for one")
  func newsWakeAndReadersWaitForACommit() async throws {
    let (a, b) = (try open("a"), try open("b"))
    defer { for store in [a, b] { store.close() } }
    let changes = b.changes
    try insert("Ada", a)
    for await _ in changes where b.sequence == 1 { break }
    try insert("Grace", a)
    try await b.catchUp(through: a.sequence)
    #expect(try names(b) == ["Ada", "Grace"])
    let late = await #expect(throws: ArborError.self) {
      try await b.catchUp(through: 99, within: .milliseconds(20))
    }
    #expect(late?.code == .deadlineExceeded)
    #expect(
      late?.message == "Timed out waiting for commit 99. The store has caught up to commit 2.")
  }

  @Test("A commit that waits for the engine while the log is started is added to the log")
  func aCommitThatWaitedForTheBeginningIsInTheLog() throws {
    let a = try PersistentStore(for: Office.classes, at: .path(path("a")))
    let committed = DispatchSemaphore(value: 0)
    log.whileBeginning {
      Thread.detachNewThread {
        let context = a.makeContext()
        context.insert(Company.self).name = "Grace"
        do { try context.commit() } catch { Issue.record(error) }
        committed.signal()
      }
      // The log starts within a transaction, so the commit has to wait for its end.
      Thread.sleep(forTimeInterval: 0.1)
    }
    try a.share(through: log)
    committed.wait()
    let b = try open("b")
    defer { for store in [a, b] { store.close() } }
    #expect(try names(a) == ["Grace"] && names(b) == names(a))
    for store in [a, b] { try store.check() }
  }

  @Test("A store can start a log while others write to it")
  func aLiveStoreIsShared() async throws {
    let a = try PersistentStore(for: Office.classes, at: .path(path("a")))
    let first = try insert("Ada", a)
    let log = log
    try await withThrowingTaskGroup { group in
      for number in 0..<40 {
        group.addTask {
          try await a.perform { $0.insert(Company.self).name = "company \(number)" }
        }
      }
      group.addTask { try a.share(through: log) }
      try await group.waitForAll()
    }
    let b = try open("b")
    #expect(try names(b).count == 41)
    #expect(try b.makeContext().object(with: first) is Company)
    try insert("Grace", b)
    try a.catchUp()
    #expect(try names(a) == names(b))
    #expect(
      message { try a.share(through: log) }
        == "The store already follows a log. Open the store without a log to share it.")
    for store in [a, b] {
      try store.check()
      store.close()
    }
    let c = try PersistentStore(for: Office.classes, at: .path(path("c")))
    defer { c.close() }
    #expect(
      message { try c.share(through: log) }
        == "The log simulated already exists. Open a store that follows the log.")
    try insert("Ada", c)
    #expect(c.sharing == nil)
  }

  @Test("The log can be trimmed after a snapshot was published")
  func snapshotsLetTheLogGo() throws {
    let a = try open("a")
    defer { a.close() }
    for number in 0..<10 { try insert("company \(number)", a) }
    let b = try open("b")
    #expect(try a.publishSnapshot() == 10)
    for number in 10..<20 { try insert("company \(number)", a) }
    #expect(try a.publishSnapshot() == 20)
    try log.trim(through: 20)
    try insert("last", a)
    #expect(log.entries.count == 2)
    // A store that is too far behind is rebuilt when opened.
    b.close()
    #expect(try names(open("c")).count == 21)
    let again = try open("b")
    defer { again.close() }
    #expect(try names(again).count == 21)
    try again.check()
  }

  // MARK: Failures

  @Test("While the log is unavailable, reads succeed and commits throw")
  func withoutTheServerReadingGoesOn() throws {
    let a = try open("a")
    let id = try insert("Ada", a)
    log.isOut = true
    #expect(try names(a) == ["Ada"])
    let context = a.makeContext()
    let company = try #require(try context.object(with: id) as? Company)
    company.name = "Grace"
    let text = "The log simulated cannot be reached; commits wait until it can."
    let error = #expect(throws: ArborError.self) { try context.commit() }
    #expect(error?.code == .logUnavailable && error?.message == text)
    #expect(message { try a.catchUp() } == text)
    #expect(a.sharing?.problem?.message == text)
    a.close()
    let again = try open("a")
    #expect(again.sharing?.problem?.message == text)
    #expect(try names(again) == ["Ada"])
    #expect(message { try open("b").close() } == text)
    log.isOut = false
    try again.catchUp()
    #expect(again.sharing?.problem == nil)
    try insert("Grace", again)
    #expect(try names(again) == ["Ada", "Grace"])
    again.close()
  }

  @Test("The outcome of a commit whose response was lost can be determined later")
  func whatNobodyKnowsIsFoundOut() throws {
    var faults = SimulatedLog.Faults()
    faults.lostAnswers = 1000
    let deaf = SimulatedLog(seed: 1, faults: faults)
    let impatient = ImpatientLog(deaf)
    let a = try PersistentStore(
      for: Office.classes, at: .path(path("a")), following: impatient, every: .seconds(3600))
    defer { a.close() }
    let error = #expect(throws: ArborError.self) { try insert("Ada", a) }
    #expect(error?.code == .outcomeUnknown)
    let batch = try #require(error?.batch)
    #expect(
      error?.message
        == "It is unknown whether the log contains the commit. Once the log is reachable again, "
        + "call PersistentStore.outcome(of:) with the batch \(batch.uuidString); until then, don't "
        + "commit the same changes from another context.")
    #expect(try names(a) == [])
    #expect(try a.outcome(of: batch) == .committed)
    #expect(try a.outcome(of: UUID()) == .unknown)
    try a.catchUp()
    #expect(try names(a) == ["Ada"])
    #expect(a.sharing?.unknownOutcomes == 1)
  }

  @Test("A log that has lost commits is reported")
  func aLogThatLostItsEndIsNamed() throws {
    let (a, b) = (try open("a"), try open("b"))
    try insert("Ada", a)
    try insert("Grace", a)
    try insert("Barbara", a)
    try b.catchUp()
    log.lose(2)
    let text =
      "The log simulated doesn't have the store's commit 3, or has a different commit with that "
      + "number: the store and the log have diverged. Close and reopen the store, which keeps the "
      + "commits that the log doesn't have."
    #expect(message { try a.catchUp() } == text)
    #expect(message { try insert("Margaret", a) } == text)
    #expect(try names(a) == ["Ada", "Barbara", "Grace"])
    a.close()
    let error = #expect(throws: ArborError.self) { try open("a") }
    #expect(error?.code == .forked)
    #expect(
      error?.message
        == "The log simulated doesn't have the store's commits 2 to 3: the server has lost these "
        + "commits. The store was kept as \(path("a")).forked-3. Reopen the original path to "
        + "rebuild the store from the log, and copy what you need from the kept store.")
    #expect(error?.violations.count == 2)
    let lost = try #require(error?.violations.first?.message)
    #expect(lost.hasPrefix("Commit 2 of "))
    #expect(lost.hasSuffix(" changed 1 object and is not in the log."))
    b.close()
    let fresh = try open("a")
    #expect(try names(fresh) == ["Ada"])
    try insert("Margaret", fresh)
    fresh.close()
    let kept = try PersistentStore(
      for: Office.classes, at: .path(path("a") + ".forked-3"),
      options: StoreOptions(isReadOnly: true))
    #expect(try names(kept) == ["Ada", "Barbara", "Grace"])
    kept.close()
    // Another commit has replaced those of this store.
    #expect(#expect(throws: ArborError.self) { try open("b") }?.code == .forked)
    let other = try open("b")
    defer { other.close() }
    #expect(try names(other) == ["Ada", "Margaret"])
  }

  @Test("Files that don't belong to the log are rejected")
  func filesThatDoNotFitAreRefused() throws {
    let a = try open("a")
    defer { a.close() }
    try insert("Ada", a)
    let other = try PersistentStore(for: Office.classes, at: .path(path("b")))
    let otherID = other.id
    other.close()
    #expect(
      message { try open("b").close() }
        == "\(path("b")) is the store \(otherID.uuidString), but the log simulated belongs to the "
        + "store \(a.id.uuidString). Use another path, or a log for each store.")
    try a.copy(to: URL(filePath: path("c")))
    #expect(
      message { try open("c").close() }
        == "\(path("c")) is a copy of the store of the log simulated, with an unknown position in "
        + "the log. Move the file away, and open the store again to rebuild it from the log.")
    #expect(
      message {
        try PersistentStore(for: Office.classes, at: .inMemory, following: log).close()
      } == "An in-memory store cannot share a log. Use a file.")
    // A store that was opened without its log is independent and can't rejoin.
    try open("d").close()
    let own = try PersistentStore(for: Office.classes, at: .path(path("d")))
    try insert("Grace", own)
    #expect(
      message { _ = try own.publishSnapshot() }
        == "The store doesn't share a log. Open it with a shared log.")
    own.close()
    #expect(
      message { try open("d").close() }
        == "The store has commits of its own after commit 1, the last one from its log. Move the "
        + "store's file away, then reopen the store to rebuild it from the log.")
  }

  @Test("A file can be opened twice in a process with the same log")
  func oneFileIsOpenedTwiceInAProcess() throws {
    let (a, again) = (try open("a"), try open("a"))
    try insert("Ada", a)
    try insert("Grace", again)
    again.close()
    try insert("Barbara", a)
    #expect(log.entries.count == 3)
    let b = try open("b")
    #expect(try names(b).count == 3)
    for store in [a, b] { store.close() }
  }

  @Test("Commits reach the log even if the response to starting it was lost")
  func aBeginningWithoutAnAnswerIsFoundOut() throws {
    let a = try PersistentStore(for: Office.classes, at: .path(path("a")))
    try insert("Ada", a)
    let error = #expect(throws: ArborError.self) { try a.share(through: DeafBeginning(log)) }
    #expect(error?.code == .logUnavailable)
    #expect(a.sharing == nil)
    try insert("Grace", a)
    a.close()
    let again = try open("a")
    #expect(log.entries.count == 1)
    try insert("Barbara", again)
    let b = try open("b")
    #expect(try names(b) == ["Ada", "Barbara", "Grace"])
    for store in [again, b] {
      try store.check()
      store.close()
    }
  }

  @Test("A read-only store follows the log, but rejects commits")
  func readersOnlyRead() throws {
    let a = try open("a")
    try insert("Ada", a)
    let reader = try open("b", StoreOptions(isReadOnly: true))
    try insert("Grace", a)
    try reader.catchUp()
    #expect(try names(reader) == ["Ada", "Grace"])
    #expect(#expect(throws: ArborError.self) { try insert("Ada", reader) }?.code == .readOnly)
    for store in [a, reader] { store.close() }
  }
}

/// A log that never learns that an entry was added, and doesn't retry.
private final class ImpatientLog: PassedLog, @unchecked Sendable {
  override var waitLimit: Duration { .zero }
  override func news() -> AsyncStream<Void>? { nil }

  override func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    let answer = try super.append(entry)
    return answer == .written ? .unknown : answer
  }
}

/// A log that doesn't learn that it was started.
private final class DeafBeginning: PassedLog, @unchecked Sendable {
  override func begin(
    with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]
  ) throws(ArborError) -> Bool {
    _ = try super.begin(with: snapshot, then: entries)
    throw ArborError(.logUnavailable, "The server doesn't answer.")
  }
}
