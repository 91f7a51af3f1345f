import ArborLocks
import ArborModel
import ArborObjects
import TestSupport
import Testing

/// The commits and fetches that are reported to a store's instrument.
@Suite struct StoreInstrumentTests {
  /// Records the reported events as text.
  private final class Recording: Sendable {
    private let lines = Lock<[String]>([])
    @TaskLocal static var request = "nobody"

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }

    var instrument: StoreInstrument {
      StoreInstrument(
        onCommit: { [self] commit in
          add("commit of \(commit.contextName ?? "-") for \(Self.request)")
          return { [self] outcome in
            let counts = "\(outcome.inserted) \(outcome.updated) \(outcome.deleted)"
            let end = outcome.error?.code.rawValue ?? outcome.sequence.map { "at \($0)" } ?? "idle"
            add("\(counts), met \(outcome.conflicts), \(end)\(Self.sign(outcome.duration))")
          }
        },
        onFetch: { [self] fetch in
          add("\(fetch.kind) of \(fetch.entityName) for \(Self.request)")
          return { [self] outcome in
            let end = outcome.error?.code.rawValue ?? outcome.count.map(String.init) ?? "-"
            add("\(end)\(Self.sign(outcome.duration))")
          }
        })
    }

    private static func sign(_ duration: Duration) -> String { duration > .zero ? "" : " too soon" }
  }

  private static let model = Result {
    try ManagedObjectModel {
      EntityDescription("Shelf") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription("parts", to: "Part", inverse: "shelves", .toMany)
      }
      EntityDescription("Part") {
        AttributeDescription("code", .integer64, .unique)
        AttributeDescription("title", .string, .optional)
        RelationshipDescription("shelves", to: "Shelf", inverse: "parts", .toMany)
      }
    }
  }

  private func use(
    _ instrument: StoreInstrument?, _ body: (PersistentStore) async throws -> Void
  ) async throws {
    var options = StoreOptions()
    options.instrument = instrument
    let store = try PersistentStore(model: Self.model.get(), at: .inMemory, options: options)
    defer { store.close() }
    try await body(store)
    try store.check()
  }

  @Test("Commits are reported with what they write")
  func commitsAreToldWithWhatTheyWrite() async throws {
    let recording = Recording()
    try await use(recording.instrument) { store in
      let context = store.makeContext()
      context.name = "desk"
      let shelf = try context.insert("Shelf")
      shelf["name"] = "A"
      let parts = try (1...3).map { code in
        let part = try context.insert("Part")
        part["code"] = code
        return part
      }
      try context.commit()
      #expect(recording.take() == ["commit of desk for nobody", "4 0 0, met 0, at 1"])
      try context.commit()
      #expect(recording.take() == [])
      parts[0]["title"] = "bolt"
      context.delete(parts[1])
      try context.commit()
      #expect(recording.take().last == "0 1 1, met 0, at 2")
      // Links of to-many relationships are stored apart from the objects' records.
      try parts[2].setValue(.list([.objectID(shelf.objectID)]), forKey: "shelves")
      try context.commit()
      #expect(recording.take().last == "0 2 0, met 0, at 3")
      parts[0]["title"] = "nut"
      parts[0]["title"] = "bolt"
      try context.commit()
      #expect(recording.take().last == "0 0 0, met 0, idle")
    }
  }

  @Test("Failed and conflicting commits are reported")
  func failuresAndConflictsAreTold() async throws {
    let recording = Recording()
    try await use(recording.instrument) { store in
      let context = store.makeContext()
      let part = try context.insert("Part")
      part["code"] = 1
      try context.commit()
      let other = store.makeContext()
      try other.insert("Part")["code"] = 1
      _ = recording.take()
      #expect(throws: ArborError.self) { try other.commit() }
      #expect(recording.take().last == "0 0 0, met 0, notUnique")
      other.rollback()

      for policy in [MergePolicy.error, .mergeByPropertyObjectWins] {
        let id = part.objectID
        other.automaticallyMergesCommits = false
        other.mergePolicy = policy
        try other.object(with: id)["title"] = "theirs"
        part["title"] = "\(policy)"
        try context.commit()
        _ = recording.take()
        if case .error = policy {
          #expect(throws: ArborError.self) { try other.commit() }
          #expect(recording.take().last == "0 0 0, met 1, conflict")
          other.rollback()
        } else {
          try other.commit()
          #expect(recording.take().last?.hasPrefix("0 1 0, met 1, at ") == true)
        }
      }
    }
  }

  /// The operations that fetch objects, and the expected events.
  private static let fetches:
    [(words: [String], ask: @Sendable (ObjectQuery<ManagedObject>) throws -> Void)] = [
      (["objects of Part for nobody", "3"], { _ = try $0.fetch() }),
      (["objects of Part for nobody", "3"], { _ = try $0.fetchIDs() }),
      (["objects of Part for nobody", "3"], { _ = try $0.page() }),
      // One more row reveals whether there is another page.
      (["objects of Part for nobody", "3"], { _ = try $0.limit(2).page() }),
      (["objects of Part for nobody", "3"], { _ = try $0.order(by: "title").page() }),
      (["objects of Part for nobody", "1"], { _ = try $0.filter("code == 2").fetch() }),
      (["objects of Part for nobody", "1"], { _ = try $0.filter("code == 2").first() }),
      (["count of Part for nobody", "3"], { _ = try $0.count() }),
      (["existence of Part for nobody", "-"], { _ = try $0.isEmpty() }),
      (["aggregates of Part for nobody", "-"], { _ = try $0.values(of: .sum("code")) }),
      (["rows of Part for nobody", "3"], { _ = try $0.rows("code") }),
      (["groups of Part for nobody", "1"], { _ = try $0.rows("count(code) AS n") }),
    ]

  @Test("Each fetch is reported once", arguments: fetches.indices)
  func fetchesAreToldOnce(index: Int) async throws {
    let recording = Recording()
    try await use(recording.instrument) { store in
      let context = store.makeContext()
      for code in 1...3 { try context.insert("Part")["code"] = code }
      try context.commit()
      _ = recording.take()
      let fetch = Self.fetches[index]
      try fetch.ask(context.objects("Part"))
      #expect(recording.take() == fetch.words)
    }
  }

  @Test("A failed fetch is reported with its error code")
  func fetchesThatFailSayWhy() async throws {
    let recording = Recording()
    try await use(recording.instrument) { store in
      let context = store.makeContext()
      #expect(throws: ArborError.self) { try context.fetch("Part", matching: "nothing == 1") }
      #expect(recording.take() == [])
      var limits = PredicateLimits.untrusted
      limits.maximumElements = 1
      let lists = try FetchPredicate(
        format: "SUBQUERY(shelves, $shelf, $shelf.name CONTAINS 'A').@count == 1", limits: limits)
      for name in ["A", "B", "C"] {
        let part = try context.insert("Part")
        part["code"] = name.utf8.first.map(Int.init)
        let shelf = try context.insert("Shelf")
        shelf["name"] = name
        try part.setValue(.list([.objectID(shelf.objectID)]), forKey: "shelves")
      }
      try context.commit()
      _ = recording.take()
      let error = #expect(throws: ArborError.self) { try context.fetch("Part", matching: lists) }
      #expect(
        recording.take() == ["objects of Part for nobody", try #require(error).code.rawValue])
    }
  }

  @Test("The closures of an instrument run in the caller's task")
  func closuresRunInTheTaskOfWhoAsks() async throws {
    let recording = Recording()
    try await use(recording.instrument) { store in
      try await Recording.$request.withValue("Mary") {
        try await store.perform { context in
          _ = try context.count(FetchRequest<ManagedObject>(entity: "Part"))
          try context.insert("Part")["code"] = 1
        }
      }
      #expect(
        recording.take() == [
          "count of Part for Mary", "0", "commit of - for Mary", "1 0 0, met 0, at 1",
        ])
      try Recording.$request.withValue("Joe") {
        try store.performBackgroundAndWait { try $0.insert("Part")["code"] = 2 }
      }
      #expect(recording.take() == ["commit of background for Joe", "1 0 0, met 0, at 2"])
    }
  }

  @Test("Several instruments are notified in order")
  func severalAreToldInTurn() async throws {
    let order = Recording()
    func named(_ name: String) -> StoreInstrument {
      StoreInstrument(onFetch: { _ in
        order.add("\(name) begins")
        return { _ in order.add("\(name) ends") }
      })
    }
    let silent = StoreInstrument(onCommit: { _ in nil })
    try await use(StoreInstrument([named("a"), silent, named("b")])) { store in
      let context = store.makeContext()
      _ = try context.fetch("Part")
      #expect(order.take() == ["a begins", "b begins", "b ends", "a ends"])
      try context.insert("Part")["code"] = 1
      try context.commit()
      #expect(order.take() == [])
    }
  }

  @Test("Queries observed by a context are also reported to the instrument")
  func queriesThatAreCountedAreToldToo() async throws {
    let (recording, counted) = (Recording(), Recording())
    try await use(recording.instrument) { store in
      let context = store.makeContext()
      context.session.watchQueries { entity, _ in counted.add(entity) }
      _ = try context.fetch("Part")
      #expect(recording.take() == ["objects of Part for nobody", "0"])
      #expect(counted.take() == ["Part"])
    }
  }

  @Test("Options with the same instrument are equal")
  func copiesAreOne() {
    let (one, other) = (StoreInstrument(), StoreInstrument())
    var options = StoreOptions()
    #expect(options == StoreOptions())
    options.instrument = one
    var same = options
    #expect(options == same && options.hashValue == same.hashValue)
    same.instrument = other
    #expect(options != same)
  }
}
