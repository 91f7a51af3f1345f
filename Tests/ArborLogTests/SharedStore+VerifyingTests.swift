import ArborLog
import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Copies of a shared store whose position in the log is ahead of their contents.
@Suite struct SharedStoreVerifyingTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  private func model(_ version: Int) -> ManagedObjectModel {
    let attributes = ["title", "subtitle"].prefix(version).map {
      AttributeDescription(name: $0, type: .string, isOptional: true)
    }
    return ManagedObjectModel(entities: [EntityDescription(name: "Note", attributes: attributes)])
  }

  private func open(
    _ name: String, _ version: Int = 1, through log: (any CommitLog)? = nil
  ) throws -> PersistentStore {
    try PersistentStore(
      model: model(version), at: .path(folder.path("\(name).arbor")),
      following: log ?? self.log, every: .seconds(3600))
  }

  private func insert(_ title: String, _ store: PersistentStore) throws {
    let context = store.makeContext()
    try context.insert("Note")["title"] = title
    try context.commit()
  }

  private func titles(_ store: PersistentStore) throws -> [String] {
    try store.makeContext().fetch("Note").map { $0["title"] as String }.sorted()
  }

  private func opening(_ path: String) -> StoreOpening {
    var opening = StoreOpening(.file(path), model: nil)
    opening.continuesSharing = true
    return opening
  }

  /// Copies the file of a store together with its position.
  private func copy(_ name: String, to target: String) throws {
    let file = try StoreEngine.open(opening(folder.path("\(name).arbor")))
    defer { file.close() }
    try file.copy(to: target, compacting: false, keepsMarker: false, keepsPosition: true)
  }

  private func position(_ path: String) throws -> SharedPosition {
    let file = try StoreEngine.open(opening(path))
    defer { file.close() }
    return try #require(try file.position())
  }

  /// Writes the position of another copy to a copy that has fewer commits.
  private func plant(_ position: SharedPosition, in path: String) throws {
    let file = try StoreEngine.open(opening(path))
    defer { file.close() }
    try file.setPosition(position, raising: position.sequence)
  }

  /// Creates the store `a` with three notes, and a copy that has only the first two.
  private func makeLateCopy() throws -> String {
    let a = try open("a")
    try insert("one", a)
    try insert("two", a)
    let late = folder.path("late.arbor")
    try copy("a", to: late)
    try insert("three", a)
    a.close()
    return late
  }

  @Test("A migrated copy that lacks a commit before its position isn't published")
  func lateMigration() throws {
    let late = try makeLateCopy()
    let path = folder.path("a.arbor")
    try plant(position(path), in: late)
    let shared = SharedStore(path, LogClient(log))
    let entries = log.entries
    let newer = model(2)
    let migration = SharedMigration(shared, to: newer, named: "version 2") { staged in
      // The copy is replaced with the one that claims more than it contains.
      for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: staged + suffix) }
      try FileManager.default.copyItem(atPath: late, toPath: staged)
      try PersistentStore(model: newer, at: .path(staged)).close()
    }
    let error = #expect(throws: ArborError.self) { try migration.run() }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message == "The copy \(path)-following lacks commits up to commit 3, its position in "
        + "the log simulated, and was not published. Open the store again.")
    #expect(log.entries == entries, "Nothing was announced.")
    let present = try open("a", 2)
    #expect(try titles(present) == ["one", "three", "two"])
    present.close()
    try TemporaryStore.check(path: path)
  }

  @Test("A snapshot that claims a commit that it lacks is refused by whoever installs it")
  func lateSnapshot() throws {
    let late = try makeLateCopy()
    try plant(position(folder.path("a.arbor")), in: late)
    let forging = ForgedSnapshots(log, late)
    let a = try open("a", through: forging)
    try a.publishSnapshot()
    a.close()
    let error = #expect(throws: ArborError.self) { try open("b") }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message
        == "The snapshot of commit 3 in the log simulated differs from what was published. Publish "
        + "another snapshot from an open store.")
    #expect(!FileManager.default.fileExists(atPath: folder.path("b.arbor")))
    // A later snapshot replaces it.
    let again = try open("a")
    try insert("four", again)
    try again.publishSnapshot()
    let b = try open("b")
    #expect(try titles(b) == ["four", "one", "three", "two"])
    for store in [again, b] {
      try store.check()
      store.close()
    }
  }

  @Test("The snapshot of a migration that lacks a commit is refused by whoever installs it")
  func lateSnapshotOfMigration() throws {
    let late = try makeLateCopy()
    let forging = ForgedMigration(log, late, model(2))
    // Simulates a machine that doesn't verify its copy.
    try open("a", 2, through: forging).close()
    let error = #expect(throws: ArborError.self) { try open("b", 2) }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message.hasPrefix("The snapshot of commit 5 in the log simulated differs") == true)
    let again = try open("a", 2)
    try insert("four", again)
    try again.publishSnapshot()
    let b = try open("b", 2)
    #expect(try titles(b) == ["four", "one", "three", "two"])
    for store in [again, b] {
      try store.check()
      store.close()
    }
  }

  @Test("A complete snapshot passes, whether or not the entries before it have been trimmed")
  func completeSnapshots() throws {
    let a = try open("a")
    for number in 0..<3 {
      try insert("\(number)", a)
      try a.publishSnapshot()
      if number == 1 { try log.trim(through: a.sequence) }
      let copy = try open("copy-\(number)")
      #expect(try titles(copy).count == number + 1)
      try copy.check()
      copy.close()
    }
    a.close()
  }
}

/// A log in which another file than the given one is published.
private final class ForgedSnapshots: PassedLog, @unchecked Sendable {
  private let path: String

  init(_ log: any CommitLog, _ path: String) {
    self.path = path
    super.init(log)
  }

  override func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    try super.publish(snapshot, in: URL(filePath: path))
  }
}

/// A log in which a migrated copy with fewer commits is published under the given position.
private final class ForgedMigration: PassedLog, @unchecked Sendable {
  private let path: String
  private let model: ManagedObjectModel

  init(_ log: any CommitLog, _ path: String, _ model: ManagedObjectModel) {
    self.path = path
    self.model = model
    super.init(log)
  }

  override func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    do {
      var opening = StoreOpening(.file(file.path), model: nil)
      opening.continuesSharing = true
      let published = try StoreEngine.open(opening)
      let position = try published.position()
      published.close()
      try PersistentStore(model: model, at: .path(path)).close()
      let late = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      if let position { try late.setPosition(position, raising: position.sequence) }
      late.close()
    } catch {
      throw ArborError(.invalidArgument, "\(error)")
    }
    try super.publish(snapshot, in: URL(filePath: path))
  }
}
