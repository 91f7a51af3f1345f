import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestSupport
import Testing

/// Indexes that are built after a migration, as seen by programs.
@Suite struct IndexBuildTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "notes.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func model(hasIndexes: Bool) throws -> ManagedObjectModel {
    let indexes = [
      FetchIndexDescription(name: "code", elements: [.init("code")], isUnique: true),
      FetchIndexDescription(name: "byRank", elements: [.init("rank"), .init("code")]),
      FetchIndexDescription(name: "words", elements: [.init("text", kind: .text)]),
    ]
    return try ManagedObjectModel {
      EntityDescription("Note", fetchIndexes: hasIndexes ? indexes : []) {
        AttributeDescription("code", .integer64, .default(0))
        AttributeDescription("rank", .integer32, .default(0))
        AttributeDescription("text", .string, .default(""))
      }
    }
  }

  private func fill(_ count: Int) throws {
    let store = try PersistentStore(model: model(hasIndexes: false), at: .file(url))
    defer { store.close() }
    let context = store.makeContext()
    for number in 0..<count {
      let note = try context.insert("Note")
      note["code"] = Int64(number)
      note["rank"] = Int32(number % 10)
      note["text"] = number.isMultiple(of: 50) ? "a rare word" : "a common one"
    }
    try context.commit()
  }

  /// Migrates the store and leaves the indexes unfinished.
  private func migrate() throws {
    var opening = StoreOpening(.file(url.path), model: try model(hasIndexes: true))
    opening.indexBuilds = .left
    opening.maximumObjectsIndexedAtOnce = 0
    try StoreEngine.open(opening).close()
  }

  private func codes(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate, by keys: [SortKey] = []
  ) throws -> [Int64] {
    try context.fetch(
      FetchRequest<ManagedObject>(entity: "Note", predicate: predicate, sortKeys: keys)
    ).compactMap { $0["code"] as Int64? }
  }

  private func plan(_ store: PersistentStore) throws -> String {
    try store.makeContext().explain(
      FetchRequest<ManagedObject>(entity: "Note", predicate: "rank == 7 AND code < 20")
    ).description
  }

  /// Expects the right results, whether or not the indexes are ready.
  private func expectAnswers(_ store: PersistentStore) throws {
    let context = store.makeContext()
    #expect(try codes(context, "rank == 7", by: [SortKey("code")]).prefix(3) == [7, 17, 27])
    #expect(try context.count(FetchRequest(entity: "Note", predicate: "rank == 7")) == 30)
    #expect(try codes(context, "code == 123") == [123])
    #expect(try codes(context, "text TOKENMATCHES 'rare'").sorted() == [0, 50, 100, 150, 200, 250])
    var first = FetchRequest<ManagedObject>(entity: "Note", sortKeys: [SortKey("rank")])
    first.fetchLimit = 1
    #expect(try context.fetch(first).first?["rank"] as Int32? == 0)
    let summary = try context.aggregate(
      FetchRequest(entity: "Note"), [.maximum("code"), .sum("rank")])
    #expect(summary == [.integer(299), .integer(1350)])
    #expect(try context.insertOrFetch("Note", where: ["code": 42])["rank"] as Int32? == 2)
    #expect(try context.upsert("Note", matching: ["code": 43], values: [:])["rank"] as Int32? == 3)
  }

  @Test("Fetches don't use an index before it is ready")
  func fetchesDoWithoutAnIndexUntilItIsReady() throws {
    try fill(300)
    try migrate()
    do {
      let store = try PersistentStore(
        model: model(hasIndexes: true), at: .file(url), options: StoreOptions(isReadOnly: true))
      defer { store.close() }
      let builds = try store.indexBuilds()
      #expect(
        builds.map(\.description) == [
          "Note.byRank: about 0 of 300 objects", "Note.code: about 0 of 300 objects",
          "Note.words: about 0 of 300 objects",
        ])
      #expect(builds.map(\.isUnique) == [false, true, false])
      #expect(builds.allSatisfy { $0.fraction == 0 && $0.state == .building && $0.problem == nil })
      try expectAnswers(store)
      let context = store.makeContext()
      #expect(try plan(store).contains("scan Note"))
      do {
        _ = try context.search("Note", "rare")
        Issue.record("An empty index was searched.")
      } catch {
        #expect(error.code == .notAllowed)
        #expect(
          error.message
            == "The index words of Note is still being built and cannot be searched yet. Search "
            + "again when PersistentStore.indexBuilds() no longer lists the index, or fetch with "
            + "TOKENMATCHES, which reads the objects.")
      }
    }
    let store = try PersistentStore(model: model(hasIndexes: true), at: .file(url))
    defer { store.close() }
    #expect(try store.indexBuilds().isEmpty)
    try expectAnswers(store)
    let context = store.makeContext()
    #expect(try context.search("Note", "rare").count == 6)
    #expect(try plan(store).contains("byRank"))
    try store.check()
  }

  @Test("An open store uses an index as soon as it is ready, whoever built it")
  func openStoresPickTheIndexUp() throws {
    try fill(300)
    try migrate()
    var options = StoreOptions()
    options.indexBuilds = .inBackground
    let store = try PersistentStore(
      model: model(hasIndexes: true), at: .file(url), options: options)
    defer { store.close() }
    // Shares the file with the store above, and waits until the builds are done.
    try PersistentStore(model: model(hasIndexes: true), at: .file(url)).close()
    #expect(try store.indexBuilds().isEmpty)
    try expectAnswers(store)
    #expect(try plan(store).contains("byRank"))
    try store.check()
  }

  @Test("A migration in a copy finishes the builds that the previous one has left")
  func aMigrationInACopyFinishesTheBuilds() throws {
    try fill(300)
    try migrate()
    var next = try model(hasIndexes: true)
    // Narrowing a type requires a pass over the objects.
    next.entities[0].attributes[1].type = .integer16
    let store = try PersistentStore(model: next, at: .file(url))
    defer { store.close() }
    #expect(try store.indexBuilds().isEmpty)
    #expect(try store.indexes().filter { $0.name != "words" }.map(\.entries) == [300, 300])
    #expect(try store.makeContext().search("Note", "rare").count == 6)
    try store.check()
  }

  @Test("A migration reports the progress of index builds, and continues cancelled ones")
  func progressIsToldAndCancellationHeard() async throws {
    try fill(10_001)
    var options = StoreOptions()
    options.indexBuilds = .inBackground
    let model = try model(hasIndexes: true)
    for try await _ in PersistentStore.migrate(url, to: model, options) { break }
    var told: [MigrationProgress] = []
    for try await progress in PersistentStore.migrate(url, to: model, options) {
      told.append(progress)
    }
    #expect(told.allSatisfy { $0.phase == .finishing && $0.entity == "Note" }, "\(told)")
    #expect(told.allSatisfy { $0.objectCount == 10_001 }, "\(told)")
    let store = try PersistentStore(model: model, at: .file(url))
    defer { store.close() }
    #expect(try store.indexBuilds().isEmpty)
    #expect(try store.indexes().filter { $0.name != "words" }.map(\.entries) == [10_001, 10_001])
    try store.check()
  }

  @Test("Duplicates that were added during a build are reported and can be changed")
  func sharedValuesAreNamedUntilTheyAreChanged() throws {
    try fill(300)
    try migrate()
    let model = try model(hasIndexes: true)
    var options = StoreOptions()
    options.indexBuilds = .inBackground
    do {
      var opening = StoreOpening(.file(url.path), model: model)
      opening.indexBuilds = .left
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      let draft = Draft(file)
      try draft.insert("Note", ["code": .integer(7)])
      try draft.commit()
    }
    func message() -> String? {
      do {
        try PersistentStore(model: model, at: .file(url)).close()
        return nil
      } catch {
        return error.code == .notUnique ? error.message : "\(error)"
      }
    }
    let sentence =
      "Objects written while an index was being built share values that must be unique. Open the "
      + "store with options.indexBuilds set to .inBackground, change the values and reopen the "
      + "store, or restore the former model with PersistentStore.revertMigration(_:)."
    #expect(message() == sentence)
    #expect(message() == sentence)
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    while try store.indexBuilds().first?.problem == nil { Thread.sleep(forTimeInterval: 0.002) }
    let build = try #require(try store.indexBuilds().first)
    #expect(build.index == "code" && build.state == .writeOnly && build.fraction == 1)
    #expect(build.problem?.code == .notUnique)
    #expect(build.problem?.violations.count == 1, "\(build)")
    #expect(build.description == "Note.code: all objects, uniqueness not yet verified")
    let context = store.makeContext()
    let twins = try context.fetch(
      FetchRequest<ManagedObject>(entity: "Note", predicate: "code == 7"))
    #expect(twins.count == 2)
    twins.last?["code"] = Int64(1000)
    try context.commit()
    store.close()
    #expect(message() == nil)
    let last = try PersistentStore(model: model, at: .file(url))
    defer { last.close() }
    #expect(try last.indexBuilds().isEmpty)
    try last.check()
  }
}
