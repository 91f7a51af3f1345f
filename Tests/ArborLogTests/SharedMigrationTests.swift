import ArborLog
import ArborModel
import Foundation
import Synchronization
import TestSupport
import Testing

import ArborObjects

/// Changing the model of a store that several machines share.
@Suite struct SharedMigrationTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  /// - Parameters:
  ///   - version: Version 1 has titles, and version 2 has headings and ranks.
  ///   - isUnique: Whether the titles or headings must be unique.
  fileprivate func model(_ version: Int, isUnique: Bool = false) -> ManagedObjectModel {
    var model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note",
        attributes: [
          AttributeDescription(
            name: version == 1 ? "title" : "heading", type: .string, isOptional: true,
            renamingIdentifier: version == 1 ? nil : "title")
        ]
          + (version == 1
            ? [] : [AttributeDescription(name: "rank", type: .integer64, defaultValue: 7)])
          + (version < 3
            ? [] : [AttributeDescription(name: "note", type: .string, isOptional: true)]),
        uniquenessConstraints: isUnique ? [["heading"]] : [])
    ])
    model.versionIdentifier = "\(version)"
    return model
  }

  fileprivate func open(
    _ name: String, _ version: Int, isUnique: Bool = false, through given: (any CommitLog)? = nil
  ) throws -> PersistentStore {
    try PersistentStore(
      model: model(version, isUnique: isUnique), at: .path(folder.path("\(name).arbor")),
      following: given ?? log, every: .seconds(3600))
  }

  fileprivate func insert(_ title: String, _ store: PersistentStore) throws {
    let context = store.makeContext()
    let note = try context.insert("Note")
    let attribute = store.model.versionIdentifier == "1" ? "title" : "heading"
    try note.setValue(.string(title), forKey: attribute)
    try context.commit()
  }

  fileprivate func titles(_ store: PersistentStore) throws -> [String] {
    let attribute = store.model.versionIdentifier == "1" ? "title" : "heading"
    return try store.makeContext().fetch(FetchRequest<ManagedObject>(entity: "Note")).compactMap {
      guard case .string(let title) = try $0.value(forKey: attribute) else { return nil }
      return title
    }.sorted()
  }

  fileprivate func message(_ body: () throws -> Void) -> String? {
    #expect(throws: ArborError.self) { try body() }?.message
  }

  private static let goesOn =
    "The log simulated continues with another model, version 2. Reading still works; reopen the "
    + "store with that model to follow and commit."

  @Test("Stores with the former model can still be read, and follow once they have the new model")
  func othersGoOnReadingAndFollowWithTheNewModel() throws {
    let a = try open("a", 1)
    try insert("one", a)
    let b = try open("b", 1)
    a.close()
    let newer = try open("a", 2)
    #expect(try titles(newer) == ["one"])
    #expect(
      try newer.makeContext().fetch(FetchRequest<ManagedObject>(entity: "Note")).first?.value(
        forKey: "rank") == .integer(7))
    try insert("two", newer)
    #expect(log.entries.count == 4)
    // The former program can read but not commit, and reports its lag.
    let error = #expect(throws: ArborError.self) { try insert("three", b) }
    #expect(error?.code == .modelChanged && error?.message == Self.goesOn)
    #expect(message { try b.catchUp() } == Self.goesOn)
    #expect(try titles(b) == ["one"])
    #expect(b.sharing?.lag == newer.sequence - 1 && b.sharing?.problem?.code == .modelChanged)
    b.close()
    let former = try open("b", 1)
    #expect(try titles(former) == ["one"])
    #expect(former.sharing?.problem?.message == Self.goesOn)
    #expect(message { try insert("three", former) } == Self.goesOn)
    former.close()
    // With the new model, it continues.
    let present = try open("b", 2)
    #expect(try titles(present) == ["one", "two"])
    try insert("three", present)
    try newer.catchUp()
    #expect(try titles(newer) == ["one", "three", "two"])
    let fresh = try open("c", 2)
    #expect(try titles(fresh) == ["one", "three", "two"])
    for store in [newer, present, fresh] {
      try store.check()
      store.close()
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path()).sorted()
        == ["a.arbor", "a.arbor-lock", "b.arbor", "b.arbor-lock", "c.arbor", "c.arbor-lock"])
  }

  @Test("A migration that the data don't permit changes neither the log nor the file")
  func aMigrationThatFailsStopsNobody() throws {
    let a = try open("a", 1)
    try insert("one", a)
    try insert("one", a)
    a.close()
    let entries = log.entries
    let error = #expect(throws: ArborError.self) { try open("a", 2, isUnique: true) }
    #expect(error?.code == .modelMismatch)
    #expect(log.entries == entries)
    let again = try open("a", 1)
    defer { again.close() }
    try insert("three", again)
    #expect(try titles(again) == ["one", "one", "three"])
  }

  @Test("If a machine dies after announcing a migration, another one can complete it")
  func aMigrationThatDiedIsTakenOver() throws {
    let a = try open("a", 1)
    try insert("one", a)
    let b = try open("b", 1)
    for store in [a, b] { store.close() }
    #expect(
      message {
        try open("a", 2, through: DyingLog(log)).close()
      } == "The server has died.")
    #expect(log.entries.count == 2)
    let former = try open("b", 1)
    #expect(message { try insert("two", former) } == Self.goesOn)
    former.close()
    let present = try open("b", 2)
    try insert("two", present)
    #expect(log.entries.count == 4)
    let other = try open("a", 2)
    #expect(try titles(other) == ["one", "two"])
    for store in [present, other] {
      try store.check()
      store.close()
    }
  }
}

extension SharedMigrationTests {
  @Test("Openings of one file with a newer model wait for each other")
  func migrationAtOnce() throws {
    let a = try open("a", 1)
    try insert("one", a)
    a.close()
    let ended = DispatchSemaphore(value: 0)
    // Used only by the thread until it has ended.
    nonisolated(unsafe) var second: Result<PersistentStore, any Error>?
    let (model, path, log) = (model(2), folder.path("a.arbor"), log)
    let slow = SlowLog(log) {
      Thread.detachNewThread {
        second = Result {
          try PersistentStore(
            model: model, at: .path(path), following: log, every: .seconds(3600))
        }
        ended.signal()
      }
      // Enough time for the other one to start, if it isn't blocked.
      Thread.sleep(forTimeInterval: 0.3)
    }
    let first = try open("a", 2, through: slow)
    ended.wait()
    let other = try #require(try second?.get())
    try insert("two", other)
    #expect(try titles(first) == ["one", "two"])
    #expect(log.entries.count == 4, "The model changes once.")
    for store in [first, other] {
      try store.check()
      store.close()
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path()).sorted()
        == ["a.arbor", "a.arbor-lock"])
  }

  @Test("A migration that was interrupted doesn't prevent a newer model")
  func passedMigration() throws {
    let a = try open("a", 1)
    try insert("one", a)
    let b = try open("b", 1)
    for store in [a, b] { store.close() }
    #expect(
      message { try open("a", 2, through: DyingLog(log)).close() } == "The server has died.")
    let newer = try open("a", 3)
    #expect(try titles(newer) == ["one"])
    try insert("two", newer)
    let former = try open("b", 1)
    #expect(try titles(former) == ["one"])
    #expect(former.sharing?.problem?.code == .modelChanged)
    former.close()
    let present = try open("b", 3)
    #expect(try titles(present) == ["one", "two"])
    for store in [newer, present] {
      try store.check()
      store.close()
    }
  }
}

extension SharedMigrationTests {
  @Test("A migration includes a commit that another machine appends before the announcement")
  func commitsBeforeTheAnnouncementAreMigrated() throws {
    let a = try open("a", 1)
    try insert("one", a)
    a.close()
    let b = try open("b", 1)
    let newer = try open("a", 2, through: ForestalledLog(log) { try? insert("two", b) })
    #expect(try titles(newer) == ["one", "two"])
    b.close()
    let present = try open("b", 2)
    #expect(try titles(present) == ["one", "two"])
    for store in [newer, present] {
      try store.check()
      store.close()
    }
  }

  @Test("If a commit before the announcement prevents the migration, the former model continues")
  func commitsBeforeTheAnnouncementMayPreventIt() throws {
    let a = try open("a", 1)
    try insert("one", a)
    a.close()
    let b = try open("b", 1)
    try open("c", 1).close()
    let forestalled = ForestalledLog(log) { try? insert("one", b) }
    let error = #expect(throws: ArborError.self) {
      try open("a", 2, isUnique: true, through: forestalled)
    }
    #expect(error?.code == .modelMismatch)
    #expect(
      message { try b.catchUp() }
        == "A change of the model failed, and the log simulated continues with a snapshot. Reading "
        + "still works; reopen the store to follow and commit.")
    b.close()
    let other = try open("b", 1)
    try insert("three", other)
    let again = try open("a", 1)
    #expect(try titles(again) == ["one", "one", "three"])
    for store in [again, other] {
      try store.check()
      store.close()
    }
    // A program that has missed all this can still read once another change succeeds.
    let newer = try open("a", 2)
    let former = try open("c", 1)
    #expect(try titles(former) == ["one", "one"])
    #expect(former.sharing?.problem?.code == .modelChanged)
    for store in [newer, former] {
      try store.check()
      store.close()
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path()).sorted()
        == ["a", "b", "c"].flatMap { ["\($0).arbor", "\($0).arbor-lock"] })
  }
}

/// A log that calls a closure before the first entry is appended, which announces the migration.
private final class ForestalledLog: PassedLog, @unchecked Sendable {
  private let beforeAppending: @Sendable () -> Void
  private let isFirst = Atomic(true)

  init(_ log: any CommitLog, _ beforeAppending: @escaping @Sendable () -> Void) {
    self.beforeAppending = beforeAppending
    super.init(log)
  }

  override func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    if isFirst.exchange(false, ordering: .relaxed) { beforeAppending() }
    return try super.append(entry)
  }
}

/// A log that calls a closure while a snapshot is published.
private final class SlowLog: PassedLog, @unchecked Sendable {
  private let whilePublishing: @Sendable () -> Void

  init(_ log: any CommitLog, _ whilePublishing: @escaping @Sendable () -> Void) {
    self.whilePublishing = whilePublishing
    super.init(log)
  }

  override func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    whilePublishing()
    try super.publish(snapshot, in: file)
  }
}

/// A log that accepts no snapshot.
private final class DyingLog: PassedLog, @unchecked Sendable {
  override func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    throw ArborError(.logUnavailable, "The server has died.")
  }
}
