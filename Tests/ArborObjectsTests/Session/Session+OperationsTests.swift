import ArborModel
import ArborObjects
import Foundation
import Observation
import TestLength
import TestSupport
import Testing

/// Operations, each of which must read the commit it has merged, and leave the context at that
/// commit, whatever other contexts commit meanwhile.
@Suite("Operations and concurrent commits") struct SessionOperationsTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Counter") {
        AttributeDescription("name", .string, .unique)
        AttributeDescription("rank", .integer64, .default(0), .indexed)
        AttributeDescription("note", .string, .default("low"))
        RelationshipDescription("group", to: "Group", inverse: "counters")
        FetchIndexDescription(text: "note", name: "notes")
      }
      EntityDescription("Group") {
        AttributeDescription("name", .string, .default("all"))
        RelationshipDescription("counters", to: "Counter", inverse: "group", .toMany)
      }
    }
  }

  /// Creates counters `a` to `j` with the ranks 0, 10, 20 … in one group.
  private func use(_ body: (PersistentStore) throws -> Void) throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      let group = try context.insert("Group")
      for (index, name) in Self.names.enumerated() {
        let counter = try context.insert("Counter")
        counter["name"] = name
        counter["group"] = group
        set(counter, to: index * 10)
      }
      try context.commit()
      try body(store)
    }
  }

  private static let names = "abcdefghij".map { "\($0)" }

  private func set(_ counter: ManagedObject, to rank: Int) {
    counter["rank"] = rank
    counter["note"] = rank >= 50 ? "high" : "low"
  }

  private func commit(_ ranks: [String: Int], to store: PersistentStore) throws {
    let context = store.makeContext()
    for (name, rank) in ranks {
      set(try #require(try context.fetchOne("Counter", matching: "name == \(name)")), to: rank)
    }
    try context.commit()
  }

  private static func show(_ counters: [ManagedObject]) -> String {
    counters.map { "\($0["name"] as String)\($0["rank"] as Int)" }.joined(separator: " ")
  }

  private static func show(_ counter: ManagedObject?) -> String { show(counter.map { [$0] } ?? []) }

  private static func all(_ cursor: FetchCursor<ManagedObject>) throws -> [ManagedObject] {
    var found: [ManagedObject] = []
    while let object = try cursor.next() { found.append(object) }
    return found
  }

  private static func updated(_ context: ManagedObjectContext) -> String {
    let changed = context.updatedObjects.union(context.deletedObjects)
    return show(changed.sorted { $0.objectID.number < $1.objectID.number })
  }

  /// The operations by name. Each returns its result with the values of its objects.
  private static let operations:
    [(name: String, run: @Sendable (ManagedObjectContext) throws -> String)] = {
      let high = FetchRequest<ManagedObject>(
        entity: "Counter", predicate: "rank >= 50", sortKeys: ["rank"])
      @Sendable func query(_ context: ManagedObjectContext) -> ObjectQuery<ManagedObject> {
        context.objects("Counter").filter("rank >= 50").order(by: "rank")
      }
      return [
        ("fetch", { show(try $0.fetch(high)) }),
        ("fetch of one", { show(try $0.fetchOne("Counter", matching: "name == 'j'")) }),
        (
          "count and fetch in a view",
          { context in
            try context.withSnapshot {
              let count = try context.count(high)
              let held = try context.fetch("Counter").filter { ($0["rank"] as Int) >= 50 }
              return "\(count) \(held.count) \(show(try context.fetch(high)))"
            }
          }
        ),
        (
          "IDs",
          { context in
            try context.withSnapshot {
              show(try context.objects(with: context.fetchIDs(high)))
            }
          }
        ),
        ("page", { show(try $0.fetchPage(high).objects) }),
        (
          "cursor in a view",
          { context in
            try context.withSnapshot {
              let cursor = try context.cursor(for: high)
              return show(try all(cursor))
            }
          }
        ),
        (
          "rows",
          { context in
            let rows = try query(context).rows("name", "rank", "sum(group.counters.rank) AS all")
            return rows.map {
              "\($0["name"] ?? .null) \($0["rank"] ?? .null) \($0["all"] ?? .null)"
            }
            .joined(separator: ", ")
          }
        ),
        ("aggregate", { "\(try $0.aggregate(high, [.count, .sum("rank"), .maximum("rank")]))" }),
        ("last", { show(try query($0).last()) }),
        (
          "groups",
          { context in
            let groups = try query(context).grouped(by: "group.name")
            return groups.map { "\($0.key): \(show($0.value))" }.sorted().joined(separator: ", ")
          }
        ),
        (
          "look-up",
          { context in
            show(try context.existingObject(with: context.store.objectID("Counter", number: 10)))
          }
        ),
        (
          "match",
          { context in
            let id = try context.store.objectID("Counter", number: 1)
            let counter = try context.registeredObject(for: id) ?? context.object(with: id)
            let isLow: FetchPredicate = "rank == 1 AND sum(group.counters.rank) == 451"
            return "\(try isLow.matches(counter)) \(show(counter))"
          }
        ),
        ("search", { show(try $0.search("Counter", "high").map(\.object)) }),
        (
          "results",
          { context in
            let results = try context.fetchedResults(high, sectionedBy: "rank")
            return "\(show(Array(results.objects))) \(results.sections.map { "\($0.value)" })"
          }
        ),
        (
          "update",
          { context in
            let count = try query(context).update(["note": "mine"])
            return "\(count) \(updated(context))"
          }
        ),
        (
          "deletion",
          { context in
            let count = try query(context).delete()
            return "\(count) \(updated(context))"
          }
        ),
      ]
    }()

  @Test(
    "An operation reads the commit that it has merged, even if another one follows",
    arguments: operations.map(\.name))
  func operationsReadTheCommitTheyMerge(name: String) throws {
    let run = try #require(Self.operations.first { $0.name == name }).run
    try use { store in
      let context = store.makeContext()
      context.isObservable = true
      let held = try context.fetch("Counter", matching: "name < 'e'", sortedBy: ["name"])
      #expect(Self.show(held) == "a0 b10 c20 d30")
      try commit(["a": 1], to: store)
      let before = try run(store.makeContext())
      // The observer of `a` runs while the context merges the commit.
      withObservationTracking {
        _ = held[0]["rank"] as Int
      } onChange: {
        #expect(throws: Never.self) {
          try store.performBackgroundAndWait { other in
            for (name, rank) in ["a": 2, "b": 95, "j": 0] {
              let counter = try other.fetchOne("Counter", matching: "name == \(name)")
              counter?["rank"] = rank
              counter?["note"] = rank >= 50 ? "high" : "low"
            }
          }
        }
      }
      let answer = try run(context)
      let values = Self.show(held)
      context.rollback()
      // A lookup first merges the commits that are known to this process.
      let isLater = name == "look-up"
      let after = try run(store.makeContext())
      #expect(answer == (isLater ? after : before))
      #expect(values == (isLater ? "a2 b95 c20 d30" : "a1 b10 c20 d30"))
      _ = try context.mergeExternalCommits()
      #expect(Self.show(held) == "a2 b95 c20 d30")
    }
  }

  @Test("A cursor skips objects that no longer match when it reaches them", arguments: [0, 65_536])
  func cursorsReadAhead(most: Int) throws {
    try use { store in
      let context = store.makeContext()
      var request = FetchRequest<ManagedObject>(
        entity: "Counter", predicate: "rank >= 50", sortKeys: ["rank"])
      request.fetchBatchSize = 2
      let cursor = try context.cursor(for: request)
      let unsorted = try context.cursor(
        for: FetchRequest<ManagedObject>(entity: "Counter", predicate: "rank >= 50"),
        listingAtMost: most)
      let first = try #require(try cursor.next())
      try commit(["h": 10], to: store)
      let last = try #require(try context.fetchOne("Counter", matching: "name == 'j'"))
      last["rank"] = 0
      let rest = try Self.all(cursor)
      #expect(Self.show([first] + rest) == "f50 g60 i80")
      let others = try Self.all(unsorted)
      #expect(Self.show(others) == "f50 g60 i80")
    }
  }

  @Test("Loaded values belong to the commit of the last operation")
  func valuesBetweenOperationsAreOfOneCommit() throws {
    try use { store in
      let context = store.makeContext()
      let held = try context.fetch("Counter", sortedBy: ["name"])
      for round in 1...20 {
        try commit(["a": round, "i": 80 - round], to: store)
        let found = try context.fetch("Counter", matching: "rank >= 50", sortedBy: ["rank"])
        try commit(["a": 90, "i": 3, "j": 4], to: store)
        #expect(
          found
            == held.filter { ($0["rank"] as Int) >= 50 }.sorted {
              ($0["rank"] as Int) < ($1["rank"] as Int)
            })
        #expect(held[0]["rank"] as Int == round)
      }
    }
  }

  @Test("Reloaded objects are awakened once, after the operation")
  func objectsReadAgainAreAwoken() throws {
    final class Guest: ManagedObject {
      override class var entityDescription: EntityDescription { description }
      private static let description = EntityDescription(
        name: "Guest", className: "Guest",
        attributes: [AttributeDescription(name: "badge", type: .integer64, defaultValue: 0)])
      var badge: Int {
        get { _attribute(0) }
        set { _setAttribute(0, newValue) }
      }
      var heard: [Int] = []
      override func awakeFromFetch() {
        heard.append(badge)
        // Hooks may use their context.
        #expect(throws: Never.self) { _ = try context?.count(Guest.self) }
      }
    }
    try ObjectStore.use(ManagedObjectModel(for: [Guest.self]), classes: [Guest.self]) { store in
      let writer = store.makeContext()
      let theirs = writer.insert(Guest.self)
      try writer.commit()
      let context = store.makeContext()
      let mine = try #require(try context.fetchOne(Guest.self))
      let operations: [() throws -> Void] = [
        { _ = try context.count(Guest.self) },
        { _ = try context.fetch(Guest.self) },
        { _ = try context.object(with: mine.objectID) },
        { try context.withSnapshot { #expect(mine.heard.count == 5) } },
        { _ = try context.objects(Guest.self).last() },
        { _ = try context.mergeExternalCommits() },
      ]
      for (index, operation) in operations.enumerated() {
        theirs.badge = index + 1
        try writer.commit()
        #expect(mine.badge == index)
        try operation()
        #expect(mine.heard == Array(0...index + 1) && mine.badge == index + 1)
      }
    }
  }

  // MARK: Snapshots

  @Test("A snapshot includes the commits of its own context")
  func aViewSeesItsOwnCommits() throws {
    try use { store in
      let context = store.makeContext()
      try context.withSnapshot {
        let counter = try #require(try context.fetchOne("Counter", matching: "name == 'j'"))
        try commit(["a": 70], to: store)
        #expect(try context.count("Counter", matching: "rank >= 50") == 5)
        counter["rank"] = 5
        let new = try context.insert("Counter")
        new["name"] = "k"
        new["rank"] = 60
        #expect(try context.count("Counter", matching: "rank >= 50") == 5)
        try context.commit()
        // From here on, the snapshot includes earlier commits by another context, too.
        let found = try context.fetch("Counter", matching: "rank >= 50", sortedBy: ["rank"])
        #expect(found.map { $0["rank"] as Int } == [50, 60, 60, 70, 70, 80])
        try commit(["b": 99], to: store)
        #expect(try context.count("Counter", matching: "rank >= 50") == 6)
      }
      #expect(try context.count("Counter", matching: "rank >= 50") == 7)
    }
  }

  @Test("A reset within a snapshot doesn't skip commits made since it began")
  func aResetInsideAView() throws {
    try use { store in
      let context = store.makeContext()
      var counter: ManagedObject?
      try context.withSnapshot {
        try commit(["a": 70], to: store)
        context.reset()
        counter = try context.fetchOne("Counter", matching: "name == 'a'")
        #expect(counter?["rank"] as Int? == 0)
      }
      #expect(try context.count("Counter", matching: "rank >= 50") == 6)
      #expect(counter?["rank"] as Int? == 70)
    }
  }

  @Test(
    "Fetched objects match their predicate while another task writes",
    .enabled(if: TestLength.isLong))
  func besideAWriter() async throws {
    let folder = try TemporaryFolder()
    let store = try PersistentStore(
      model: Self.model(), at: .file(folder.url.appending(path: "a.arbor")),
      options: StoreOptions(durability: .relaxed))
    defer { store.close() }
    try store.performBackgroundAndWait { context in
      for name in Self.names { try context.insert("Counter")["name"] = name }
    }
    let writer = _Concurrency.Task.detached {
      while !_Concurrency.Task.isCancelled {
        try await store.perform { context in
          let name = Self.names.randomElement() ?? "a"
          let counter = try context.fetchOne("Counter", matching: "name == \(name)")
          counter?["rank"] = Int.random(in: 0..<100)
        }
      }
    }
    let context = store.makeContext()
    let held = try context.fetch("Counter")
    func look() throws {
      let found = try context.fetch("Counter", matching: "rank >= 50", sortedBy: ["rank"])
      let ranks = found.map { $0["rank"] as Int }
      #expect(ranks == ranks.sorted() && ranks.allSatisfy { $0 >= 50 })
      #expect(held.count { ($0["rank"] as Int) >= 50 } == found.count)
    }
    for _ in 0..<20_000 {
      try look()
      try context.withSnapshot {
        try look()
        let count = try context.count("Counter", matching: "rank >= 50")
        #expect(held.count { ($0["rank"] as Int) >= 50 } == count)
      }
    }
    writer.cancel()
    _ = await writer.result
    try store.check()
  }
}
