import ArborData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Migrations with custom code.
@Suite struct MigrationStepTests {
  /// Returns a model in which books name their series in a string; ``second()`` has an entity for
  /// it.
  static func first() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Author") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("name", .string, .optional, .indexed)
        RelationshipDescription("books", to: "Book", inverse: "author", .toMany)
      }
      EntityDescription("Book") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("title", .string)
        AttributeDescription("seriesText", .string, .optional)
        RelationshipDescription("author", to: "Author", inverse: "books")
      }
      EntityDescription("Cache") { AttributeDescription("id", .integer64) }
    }
  }

  static func second() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Author") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("name", .string, .optional, .indexed)
        AttributeDescription("bookCount", .integer32)
        RelationshipDescription("books", to: "Book", inverse: "author", .toMany)
      }
      EntityDescription("Book") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("title", .string)
        AttributeDescription("code", .string)
        RelationshipDescription("author", to: "Author", inverse: "books")
        RelationshipDescription("series", to: "Series", inverse: "books")
      }
      EntityDescription("Series") {
        AttributeDescription("id", .integer64)
        AttributeDescription("name", .string, .optional)
        RelationshipDescription("books", to: "Book", inverse: "series", .toMany)
      }
      EntityDescription("Cache") { AttributeDescription("id", .integer64) }
    }
  }

  static let count = 300

  /// Returns the ID of a series. Its number follows the order in which the step first meets the
  /// series.
  static func seriesID(_ number: Int64) -> Int64 { 9000 + [4, 0, 1, 5, 2, 3, 6][Int(number)] }

  static func objects() -> PlainObjects {
    var plain = PlainObjects()
    for author in Int64(0)..<4 {
      plain.values["Author", default: [:]][author] = [
        "id": .integer(author), "name": .string("author \(author)"),
      ]
      plain.links["Author", default: [:]][author] = ["books": []]
    }
    for number in 0..<count {
      let id = Int64(1000 + number)
      plain.values["Book", default: [:]][id] = [
        "id": .integer(id), "title": .string(Library.text(number)),
        "seriesText": number % 3 == 0 ? .null : .string("series \(number % 7)"),
      ]
      plain.links["Book", default: [:]][id] = ["author": [Int64(number % 4)]]
      plain.links["Author"]?[Int64(number % 4)]?["books"]?.append(id)
    }
    for number in Int64(0)..<10 {
      plain.values["Cache", default: [:]][5000 + number] = ["id": .integer(5000 + number)]
    }
    return plain
  }

  /// Applies the effects of the step to the expected contents.
  static func change(_ plain: inout PlainObjects) {
    plain.values["Cache"] = nil
    plain.change("Book") { values in
      if case .string(let title)? = values["title"] { values["code"] = .string("code of \(title)") }
      values["seriesText"] = nil
    }
    plain.links["Book"] = plain.links["Book"]?.mapValues { $0.merging(["series": []]) { $1 } }
    for number in 0..<count where number % 3 != 0 {
      let (id, series) = (Int64(1000 + number), seriesID(Int64(number % 7)))
      plain.values["Series", default: [:]][series] = [
        "id": .integer(series), "name": .string("series \(number % 7)"),
      ]
      plain.links["Series", default: [:]][series, default: [:]]["books", default: []].append(id)
      plain.links["Book"]?[id]?["series"] = [series]
    }
    for author in Int64(0)..<4 {
      let books = plain.links["Author"]?[author]?["books"]?.count ?? 0
      plain.values["Author"]?[author]?["bookCount"] = .integer(Int64(books))
    }
  }

  static func step(
    batches: MigrationStep.Batches = .of(64),
    _ each: @escaping @Sendable () throws -> Void = {},
    observing: @escaping @Sendable (MigrationManager) -> Void = { _ in }
  ) throws -> MigrationStep {
    MigrationStep(from: try first(), to: try second(), batches: batches) { migration in
      try migration.migrate("Book") { old, new in
        observing(migration)
        try each()
        new["code"] = "code of \(old["title"] as String)"
        let series = try migration.insertOrFetch("Series", where: "name", equals: old["seriesText"])
        if let series, let text = (old["seriesText"] as String?)?.last, let digit = Int64("\(text)")
        {
          series["id"] = seriesID(digit)
        }
        new["series"] = series
      }
      try migration.migrate("Author") { old, new in
        new["bookCount"] = (old["books"] as [ManagedObject]).count
      }
      try migration.deleteAll("Cache")
    }
  }

  @Test(
    "A step migrates objects with code", arguments: [MigrationStep.Batches.of(64), .of(1), .atomic])
  func aStepMigratesObjectsWithCode(_ batches: MigrationStep.Batches) throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    var options = StoreOptions()
    options.migrationSteps = [try Self.step(batches: batches)]
    try store.evolve(to: Self.second(), options, Self.change)
    let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path())
    #expect(
      left.filter { !$0.hasPrefix("fresh") }.sorted() == [
        "evolving.arbor", "evolving.arbor-before", "evolving.arbor-before-lock",
        "evolving.arbor-lock",
      ])
  }

  @Test("A step can be reverted until there are later commits or it is confirmed")
  func aStepIsRevertedUntilItIsConfirmed() throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    let plain = store.plain
    var options = StoreOptions()
    options.migrationSteps = [try Self.step()]
    try store.evolve(to: Self.second(), options, Self.change)
    try PersistentStore.revertMigration(store.url)
    try store.evolve(to: Self.first(), options) { $0 = plain }
    // Later changes would be lost.
    try store.evolve(to: Self.second(), options, Self.change)
    try store.change { context, plain in
      try context.insert("Cache")["id"] = Int64(7)
      plain.values["Cache"] = [7: ["id": 7]]
    }
    func refusal() -> ArborError? {
      #expect(throws: ArborError.self) { try PersistentStore.revertMigration(store.url) }
    }
    #expect(refusal()?.message.contains("1 later commit would be lost") == true)
    let opened = try PersistentStore(at: .file(store.url))
    try opened.confirmMigration()
    opened.close()
    #expect(refusal()?.message.contains("has no migration to revert") == true)
    let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path())
    #expect(
      left.filter { !$0.hasPrefix("fresh") }.sorted() == ["evolving.arbor", "evolving.arbor-lock"])
  }

  @Test("A purge also removes the copy of the store from before the step")
  func aPurgeRemovesTheStoreBeforeAStep() throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    var options = StoreOptions()
    options.migrationSteps = [try Self.step()]
    try store.evolve(to: Self.second(), options, Self.change)
    let opened = try PersistentStore(at: .file(store.url))
    try opened.purge()
    try opened.check()
    opened.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path())
    #expect(
      left.filter { !$0.hasPrefix("fresh") }.sorted() == ["evolving.arbor", "evolving.arbor-lock"])
    #expect(throws: ArborError.self) { try PersistentStore.revertMigration(store.url) }
  }

  @Test("An interrupted migration can be abandoned")
  func anInterruptedMigrationIsGivenUp() throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    var options = StoreOptions()
    options.migrationSteps = [try Self.step { throw CancellationError() }]
    #expect(try store.refusal(of: Self.second(), options, begins: true).code == .cancelled)
    // Until then the store is read-only for the former model.
    let writer = try store.refusal(of: Self.first(), options)
    #expect(writer.code == .migrationUnderWay)
    try PersistentStore.revertMigration(store.url)
    try store.evolve(to: Self.first())
  }

  @Test("Code can convert composite values")
  func codeConvertsCompositeValues() throws {
    func model(_ version: String, _ parts: [String]) -> ManagedObjectModel {
      let attributes = [
        AttributeDescription(name: "id", type: .integer64),
        AttributeDescription(name: "home", type: .composite("Address"), isOptional: true),
      ]
      let parts = parts.map { AttributeDescription(name: $0, type: .string, isOptional: true) }
      return ManagedObjectModel(
        entities: [EntityDescription(name: "Person", attributes: attributes)],
        composites: [CompositeDescription(name: "Address", attributes: parts)],
        versionIdentifier: version)
    }
    var plain = PlainObjects()
    plain.values["Person"] = [
      1: ["id": 1, "home": .composite(["street": "Main Street", "city": "Riga"])],
      2: ["id": 2, "home": .null],
    ]
    let (first, second) = (model("1", ["street", "city"]), model("2", ["line", "city"]))
    let store = try EvolvingStore(first, plain)
    var options = StoreOptions()
    options.migrationSteps = [MigrationStep(from: first, to: second) { _ in }]
    let refusal = try store.refusal(of: second, options, begins: true)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Address.street is removed, but the step from version 1 to 2 doesn't migrate it. Call \
        migrate or forEach for Person in that step, or list "Address.street" in \
        options.migration = .automatic(dropping:) to drop it.
        """
      ])
    options.migrationSteps = [
      MigrationStep(from: first, to: second) { migration in
        try migration.migrate("Person") { old, new in
          guard case .composite(let parts) = old["home"] as PropertyValue else { return }
          new["home"] = PropertyValue.composite([
            "line": parts["street"] ?? .null, "city": parts["city"] ?? .null,
          ])
        }
      }
    ]
    try store.evolve(to: second, options) { plain in
      plain.values["Person"]?[1]?["home"] = .composite(["line": "Main Street", "city": "Riga"])
    }
  }

  @Test("An error in the code leaves the store unchanged")
  func anErrorOfTheCodeLeavesTheStoreAsItWas() throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    var options = StoreOptions()
    let calls = Counter()
    options.migrationSteps = [
      try Self.step { if calls.next() == 100 { throw ArborError(.validation, "No code.") } }
    ]
    let refusal = try store.refusal(of: Self.second(), options, begins: true)
    #expect(refusal.code == .validation)
    #expect(refusal.message == "Book 100 could not be migrated: No code.")
    #expect(refusal.objectID?.entityName == "Book" && refusal.objectID?.number == 100)
    // The corrected step runs.
    options.migrationSteps = [try Self.step()]
    try store.evolve(to: Self.second(), options, Self.change)
  }

  @Test("An interrupted migration continues after its last complete batch")
  func anInterruptedMigrationGoesOn() throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    var options = StoreOptions()
    let calls = Counter()
    options.migrationSteps = [
      try Self.step { if calls.next() == 200 { throw CancellationError() } }
    ]
    let refusal = try store.refusal(of: Self.second(), options, begins: true)
    #expect(refusal.code == .cancelled)
    try store.evolve(to: Self.second(), options, Self.change)
    // Three batches of 64 were written before the interruption.
    #expect(calls.next() == 200 + (Self.count - 3 * 64) + 1)
  }

  /// Cancelling a task that iterates over a migration stops the migration with an error and leaves
  /// the store unchanged. The next migration continues from there.
  @Test("A migration continues after its task was cancelled", .timeLimit(.minutes(40)))
  func aCancelledIterationGoesOnLater() async throws {
    let store = try EvolvingStore(Self.first(), Self.objects())
    let (url, model) = (store.url, try Self.second())
    let (reached, reach) = AsyncStream.makeStream(of: Void.self)
    let calls = Counter()
    var options = StoreOptions()
    options.migrationSteps = [
      try Self.step {
        guard calls.next() == 200 else { return }
        reach.yield()
        while !Task.isCancelled { usleep(500) }
      }
    ]
    let cancelled = options
    let task = Task { () -> ArborError? in
      do {
        for try await _ in PersistentStore.migrate(url, to: model, cancelled) {}
        return nil
      } catch {
        return error as? ArborError
      }
    }
    for await _ in reached { break }
    task.cancel()
    let error = await task.value
    #expect(error?.code == .cancelled)
    // The migration stopped within its current batch of 64 or the next one.
    #expect(calls.next() <= 4 * 64 + 1)
    do {
      let reader = try PersistentStore(at: .file(url), options: StoreOptions(isReadOnly: true))
      defer { reader.close() }
      #expect(try reader.model == Self.first() && reader.makeContext().count("Book") == Self.count)
    }
    let first = FirstNumber()
    options.migrationSteps = [try Self.step(observing: { first.note($0.progress.objectsDone) })]
    for try await _ in PersistentStore.migrate(url, to: model, options) {}
    // Three batches of 64 were written before.
    #expect(first.value == 3 * 64)
    try store.evolve(to: model, options, Self.change)
  }

  private final class FirstNumber: Sendable {
    private let number = Atomic(-1)
    var value: Int { number.load(ordering: .relaxed) }
    func note(_ next: Int) {
      _ = number.compareExchange(expected: -1, desired: next, ordering: .relaxed)
    }
  }

  final class Counter: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }
}
