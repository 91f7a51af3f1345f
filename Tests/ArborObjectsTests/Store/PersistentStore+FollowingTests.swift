import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Stores that follow the log of another store.
@Suite struct PersistentStoreFollowingTests {
  private let folder: TemporaryFolder
  private let log: FolderLog
  private let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
    store = try PersistentStore(for: Office.classes, at: .path(folder.path("a.arbor")))
  }

  private var logPath: String { folder.path("log") }

  @discardableResult
  private func insert(_ name: String) throws -> ObjectID {
    let context = store.makeContext()
    let company = context.insert(Company.self)
    company.name = name
    try context.commit()
    return company.objectID
  }

  /// Opens a follower that reads its log only when requested.
  private func follow(_ name: String = "b.arbor") throws -> PersistentStore {
    try PersistentStore(
      following: log, at: .path(folder.path(name)), classes: Office.classes, every: .seconds(3600))
  }

  private func names(_ store: PersistentStore) throws -> [String?] {
    try store.makeContext().fetch(FetchRequest<Company>(sortKeys: ["name"])).map(\.name)
  }

  @Test("A follower receives the commits that were backed up")
  func whatIsBackedUpComes() throws {
    let ada = try insert("Ada")
    try store.backUp(to: log)
    let replica = try follow()
    #expect(try names(replica) == ["Ada"])
    let context = replica.makeContext()
    let results = try context.fetchedResults(FetchRequest<Company>(sortKeys: ["name"]))
    try insert("Grace")
    #expect(try replica.catchUp() == 1)
    try store.backUp(to: log)
    #expect(try replica.catchUp() == 2)
    #expect(try context.mergeExternalCommits())
    #expect(results.objects.map(\.name) == ["Ada", "Grace"])
    #expect(try context.object(with: ada) is Company)
    #expect(replica.following?.lag == 0)
    #expect(replica.following?.problem == nil)
    #expect(store.following == nil)
    // A snapshot in between makes no difference.
    try insert("Barbara")
    try store.backUp(to: log, snapshot: true)
    try insert("Margaret")
    try store.backUp(to: log)
    #expect(try replica.catchUp() == 4)
    #expect(try names(replica) == ["Ada", "Barbara", "Grace", "Margaret"])
    try replica.check()
    replica.close()
    // It continues where it stopped.
    try insert("Radia")
    try store.backUp(to: log)
    let again = try follow()
    defer { again.close() }
    #expect(try names(again).count == 5)
    try again.check()
  }

  @Test("A follower receives commits without being asked to catch up")
  func aFollowerThatOnlyWaitsIsWoken() async throws {
    try insert("Ada")
    try store.backUp(to: log)
    let replica = try PersistentStore(
      following: log, at: .path(folder.path("b.arbor")), classes: Office.classes,
      every: .milliseconds(5))
    defer { replica.close() }
    let changes = replica.changes
    try insert("Grace")
    try store.backUp(to: log)
    for await _ in changes where replica.following?.sequence == 2 { break }
    #expect(try names(replica) == ["Ada", "Grace"])
  }

  @Test("A follower rejects commits")
  func nothingElseIsWritten() throws {
    try insert("Ada")
    try store.backUp(to: log)
    let replica = try follow()
    let context = replica.makeContext()
    let path = folder.path("b.arbor")
    let message =
      "\(path) follows the log of another store and cannot be written. Write to that store."
    let company = try #require(try context.fetch(FetchRequest<Company>()).first)
    company.name = "Grace"
    let error = #expect(throws: ArborError.self) { try context.commit() }
    #expect(error?.code == .readOnly)
    #expect(error?.message == message)
    #expect(#expect(throws: ArborError.self) { try replica.purge() }?.message == message)
    #expect(
      #expect(throws: ArborError.self) { try replica.backUp(to: log) }?.message == message)
    #expect(
      #expect(throws: ArborError.self) { try store.catchUp() }?.message
        == "The store doesn't follow a log. Open it with a log.")
    replica.close()
    // When opened without a log, it becomes a store of its own that no longer follows.
    let own = try PersistentStore(for: Office.classes, at: .path(path))
    let other = own.makeContext()
    other.insert(Company.self).name = "Grace"
    try other.commit()
    own.close()
    #expect(
      #expect(throws: ArborError.self) { try follow() }?.message
        == "\(path) has its own commits after commit 1 of the log \(logPath), which the store "
        + "follows. Move the file away, and open the store again to rebuild it from the log.")
  }

  @Test("Files that don't follow the log are rejected")
  func filesThatDoNotFollowAreRefused() throws {
    try insert("Ada")
    #expect(
      #expect(throws: ArborError.self) { try follow() }?.message
        == "There is no log in \(logPath). Check the path, or create the log with a backup.")
    try store.backUp(to: log)
    #expect(
      #expect(throws: ArborError.self) { try follow("a.arbor") }?.message
        == "\(folder.path("a.arbor")) is an independent store, which doesn't follow the log "
        + "\(logPath). Use the path of a new file, which is then created from the log.")
    let other = FolderLog(folder.url.appending(path: "other"))
    try store.backUp(to: other)
    try follow().close()
    #expect(
      #expect(throws: ArborError.self) {
        try PersistentStore(following: other, at: .path(folder.path("b.arbor")))
      }?.message
        == "\(folder.path("b.arbor")) follows a log other than \(folder.path("other")). Use a "
        + "separate path for each log.")
    #expect(
      #expect(throws: ArborError.self) { try PersistentStore(following: log, at: .inMemory) }?
        .message == "An in-memory store cannot follow a log. Use a file.")
  }

  @Test("A follower reports a log that has diverged, as after a restore to an earlier commit")
  func anotherHistoryIsNamed() throws {
    try insert("Ada")
    try store.backUp(to: log)
    try insert("Grace")
    try store.backUp(to: log)
    let replica = try follow()
    let fork = folder.url.appending(path: "fork.arbor")
    try PersistentStore.restore(from: log, to: fork, at: .sequence(1))
    let forked = try PersistentStore(for: Office.classes, at: .file(fork))
    defer { forked.close() }
    let context = forked.makeContext()
    context.insert(Company.self).name = "Barbara"
    try context.commit()
    try forked.backUp(to: log)
    let error = #expect(throws: ArborError.self) { try replica.catchUp() }
    #expect(
      error?.message
        == "The log \(logPath) continues with a snapshot that doesn't follow from its commits. The "
        + "store can still be read. Close and reopen it to rebuild it from the log's newest "
        + "snapshot.")
    #expect(replica.following?.problem?.message == error?.message)
    #expect(try names(replica) == ["Ada", "Grace"])
    replica.close()
    let again = try follow()
    defer { again.close() }
    #expect(try names(again) == ["Ada", "Barbara"])
  }

  @Test("A follower adopts a changed model when it is reopened")
  func aChangedModelIsTakenOverByOpening() throws {
    try insert("Ada")
    try store.backUp(to: log)
    let replica = try follow()
    store.close()
    var model = store.model
    let index = try #require(model.entities.firstIndex { $0.name == "Company" })
    model.entities[index].attributes.append(
      AttributeDescription(name: "motto", type: .string, isOptional: true))
    let later = try PersistentStore(model: model, at: .path(folder.path("a.arbor")))
    defer { later.close() }
    let context = later.makeContext()
    try context.insert("Company").setValue(.string("Grace"), forKey: "name")
    try context.commit()
    try later.backUp(to: log)
    let error = #expect(throws: ArborError.self) { try replica.catchUp() }
    #expect(
      error?.message == "The log \(logPath) continues with another model. The store can still be "
        + "read. Close and reopen it to rebuild it from the log's newest snapshot.")
    #expect(replica.following?.problem?.code == .modelChanged)
    #expect(try names(replica) == ["Ada"])
    replica.close()
    let again = try PersistentStore(following: log, at: .path(folder.path("b.arbor")))
    defer { again.close() }
    #expect(again.model == later.model)
    #expect(try again.makeContext().objects("Company").count() == 2)
    try again.check()
  }
}
