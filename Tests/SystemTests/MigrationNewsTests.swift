import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// While another process migrates a store, a program that has it open with the former model keeps
/// reading if it can, is notified, cannot write, and can reopen the store.
@Suite("Programs whose store another process migrates", .timeLimit(.minutes(40)))
struct MigrationNewsTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("store.arbor")
  }

  private func refusal(_ body: () throws -> Void) -> ArborError? {
    do {
      try body()
      Issue.record("Nothing was refused.")
      return nil
    } catch {
      return error as? ArborError
    }
  }

  private static let changed =
    "Another process has changed the store's model since this process opened it. Reopen the store."

  private func run(_ arguments: [String]) throws {
    let end = try CrashWriterRun(arguments).finish()
    #expect(end.status == 0, "\(end.errors)")
  }

  /// Creates a ledger with an account of 30 entries.
  private func ledger() throws -> PersistentStore {
    try LedgerWriter(path: path) { _ in }.store.close()
    let store = try LedgerWriter.open(path)
    let context = store.makeContext()
    let account = try #require(try context.fetchOne(Account.self))
    for number in 0..<30 {
      let entry = context.insert(Entry.self)
      // Negative, because the other process draws its IDs from the store's counter.
      entry.entryID = Int64(-1 - number)
      entry.amount = number
      entry.account = account
    }
    try context.commit()
    return store
  }

  // MARK: In place

  /// If the former model can still read the records, every opening of the file continues to read.
  @Test("Readers with the former model continue after indexes are added")
  func afterFurtherIndexesReadersGoOn() async throws {
    let store = try ledger()
    defer { store.close() }
    let second = try PersistentStore(at: .path(path), classes: LedgerClasses.all)
    defer { second.close() }
    var news = [store.changes, second.changes].map { $0.makeAsyncIterator() }
    let context = store.makeContext()
    let account = try #require(try context.fetchOne(Account.self))
    try run(["index", path, "0", "1"])
    for index in news.indices {
      // The change of the model is a commit, which changes no objects.
      let change = try #require(await news[index].next(isolation: nil))
      #expect(change.migration == nil && change.isComplete && change.commitSequence == 3)
      #expect(change.inserted.isEmpty && change.updated.isEmpty && change.deleted.isEmpty)
      let element = try #require(await news[index].next(isolation: nil))
      let notice = try #require(element.migration)
      #expect(notice.phase == .completed && notice.reading == .current)
      #expect(notice.source == store.model.fingerprint && notice.target != notice.source)
      #expect(element.isComplete && element.inserted.isEmpty && element.commitSequence == 3)
      #expect(
        "\(notice)"
          == "The store was migrated from model \(notice.source) to \(notice.target). The store "
          + "can still be read. Reopen it to write.")
    }
    // Objects and links that were not yet loaded are read from the file.
    #expect(account.entries.map(\.amount).sorted() == Array(0..<30))
    #expect(try context.count(FetchRequest<Entry>(predicate: "amount >= 20")) == 10)
    let error = refusal {
      context.insert(Entry.self).entryID = -1000
      try context.commit()
    }
    #expect(error?.code == .modelChanged && error?.message == Self.changed)
    // Commits made with the newer model are visible and reported here.
    try run(["index", path, "1", "1"])
    let commit = try #require(await news[0].next(isolation: nil))
    #expect(commit.migration == nil && commit.inserted.count == 1)
    #expect(try store.makeContext().count("Entry") == 31)
    second.close()
    store.close()
    let newer = try LedgerIndexes.open(path)
    defer { newer.close() }
    let later = newer.makeContext()
    try later.insert("Entry")["entryID"] = Int64(-2000)
    try later.commit()
    try newer.check()
  }

  /// Loaded objects remain available, but nothing more can be read.
  @Test("Readers are told to reopen the store after an attribute is added")
  func afterAnAttributeMoreReadersAreToldToReopen() async throws {
    let store = try ledger()
    defer { store.close() }
    var news = store.changes.makeAsyncIterator()
    let context = store.makeContext()
    let entries = try context.fetch(FetchRequest<Entry>(sortKeys: ["amount"]))
    try run(["evolve", path, "0", "1"])
    let element = try #require(await news.next(isolation: nil))
    let notice = try #require(element.migration)
    #expect(notice.phase == .completed && notice.reading == .refused && !element.isComplete)
    #expect(
      "\(notice)"
        == "The store was migrated from model \(notice.source) to \(notice.target). Reopen it to "
        + "read and write.")
    #expect(await news.next(isolation: nil) == nil)
    #expect(entries.map(\.amount) == Array(0..<30))
    let reading = refusal { _ = try context.count("Entry") }
    #expect(reading?.code == .modelChanged && reading?.message == Self.changed)
    let writing = refusal {
      entries[0].amount = 7
      try context.commit()
    }
    #expect(writing?.code == .modelChanged && writing?.message == Self.changed)
    // A late subscriber is notified as well.
    var late = store.changes.makeAsyncIterator()
    #expect(await late.next(isolation: nil)?.migration == notice)
    store.close()
    let newer = try LedgerEvolution.open(path)
    defer { newer.close() }
    #expect(newer.model.fingerprint == notice.target)
    let posting = try #require(
      try newer.makeContext().fetchOne(
        FetchRequest<ManagedObject>(entity: "Posting", predicate: "amount == 7")))
    #expect(posting["rank"] == 7)
    try newer.check()
  }

  // MARK: In a copy

  private func underWay(_ error: ArborError?) {
    #expect(error?.code == .migrationUnderWay)
    let words = error?.message.split(separator: " ") ?? []
    let date = words.first { $0.hasSuffix("Z") } ?? "?"
    #expect(
      error?.message
        == "The store has been migrating to another model since \(date) and cannot be written "
        + "until the migration is complete. Open the store with that model to continue the "
        + "migration, open it read-only, or abandon the migration with "
        + "PersistentStore.revertMigration(_:).")
  }

  /// Runs `body` with a store opened with the former model, while the migration to the newer one is
  /// paused in its custom code.
  private func paused(
    _ body: (PersistentStore, CrashWriterRun) async throws -> Void
  ) async throws {
    try Conversion.fill(path, count: 60)
    let store = try PersistentStore(model: Conversion.first(), at: .path(path))
    defer { store.close() }
    let migration = try CrashWriterRun(["pause", path, "2", "20"])
    defer { migration.kill() }
    var news = store.changes.makeAsyncIterator()
    let element = try #require(await news.next(isolation: nil))
    let notice = try #require(element.migration)
    #expect(notice.phase == .began && notice.reading == .current && element.isComplete)
    #expect(try notice.target == Conversion.second().fingerprint)
    #expect(
      "\(notice)"
        == "The store is being migrated in a copy, from model \(notice.source) to "
        + "\(notice.target). Until the migration is complete, the store can be read but not "
        + "written.")
    #expect(migration.read(until: 1, "paused"), "\(migration.finish().errors)")
    underWay(
      refusal {
        let context = store.makeContext()
        try #require(try context.fetchOne("Entry"))["visits"] = 9
        try context.commit()
      })
    try await body(store, migration)
  }

  @Test("A program with the former model can read during a custom migration")
  func theFormerProgramReadsOnWhileCodeRuns() async throws {
    try await paused { store, migration in
      var news = store.changes.makeAsyncIterator()
      #expect(await news.next(isolation: nil)?.migration?.phase == .began)
      let context = store.makeContext()
      #expect(try context.count("Entry") == 60)
      let (fifth, sixth) = try (
        store.objectID("Entry", number: 5), store.objectID("Entry", number: 6)
      )
      #expect(try context.objects(with: [fifth]).map { $0["text"] } == [Conversion.text(4)])
      try Data().write(to: URL(filePath: path + Conversion.continueSuffix))
      let end = migration.finish()
      #expect(end.status == 0, "\(end.errors)")
      let element = try #require(await news.next(isolation: nil))
      let notice = try #require(element.migration)
      #expect(notice.phase == .completed && notice.reading == .former && !element.isComplete)
      #expect(
        "\(notice)"
          == "The store was migrated in a copy, from model \(notice.source) to \(notice.target). "
          + "The open store shows the earlier state. Reopen it to see the migrated store.")
      #expect(await news.next(isolation: nil) == nil)
      #expect(try context.objects(with: [sixth]).map { $0["text"] } == [Conversion.text(5)])
      #expect(try store.makeContext().count("Entry") == 60)
      let error = refusal {
        try context.insert("Entry")["text"] = "lost"
        try context.commit()
      }
      #expect(error?.code == .modelChanged && error?.message == Self.changed)
      store.close()
      #expect(try Conversion.problem(path, count: 60) == nil)
      let newer = try PersistentStore(model: Conversion.second(), at: .path(path))
      defer { newer.close() }
      let later = newer.makeContext()
      try later.insert("Receipt")["number"] = Int64(7)
      try later.commit()
      #expect(newer.model.fingerprint == notice.target)
    }
  }

  @Test("A revert is reported just like a migration")
  func theWayBackIsTold() async throws {
    try Conversion.fill(path, count: 60)
    try run(["convert", path, "0", "20"])
    let store = try PersistentStore(model: Conversion.second(), at: .path(path))
    defer { store.close() }
    var news = store.changes.makeAsyncIterator()
    let reverted = try BuiltProgram("lmdb-inspect").run(["revert", path])
    #expect(reverted.status == 0, "\(reverted.errors)")
    var notice = try #require(await news.next(isolation: nil)?.migration)
    // For a moment, the file contains the marker that announces the revert.
    if notice.phase == .began {
      notice = try #require(await news.next(isolation: nil)?.migration)
    }
    #expect(notice.phase == .completed && notice.reading == .former)
    #expect(try notice.target == Conversion.first().fingerprint)
    #expect(try store.makeContext().count("Receipt") == 61)
    store.close()
    let former = try PersistentStore(model: Conversion.first(), at: .path(path))
    defer { former.close() }
    #expect(try former.makeContext().count("Entry") == 60)
    try former.check()
  }

  @Test("Abandoning the migration of a dead process lets the former program write again")
  func aMigrationThatIsGivenUpIsTold() async throws {
    try await paused { store, migration in
      var news = store.changes.makeAsyncIterator()
      #expect(await news.next(isolation: nil)?.migration?.phase == .began)
      migration.kill()
      let reverted = try BuiltProgram("lmdb-inspect").run(["revert", path])
      #expect(reverted.status == 0, "\(reverted.errors)")
      let element = try #require(await news.next(isolation: nil))
      let notice = try #require(element.migration)
      #expect(notice.phase == .abandoned && element.isComplete)
      #expect(
        "\(notice)"
          == "The migration of the store from model \(notice.source) to \(notice.target) was "
          + "abandoned. The store can be written again.")
      let context = store.makeContext()
      let entry = try context.insert("Entry")
      (entry["id"], entry["text"]) = (Int64(60), "more")
      try context.commit()
      let commit = try #require(await news.next(isolation: nil))
      #expect(commit.migration == nil && commit.inserted == [entry.objectID])
      try store.check()
    }
  }
}
