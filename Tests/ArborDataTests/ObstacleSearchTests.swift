import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// The obstacles of a plan, the refusal of opening and a naive search of the objects agree.
@Suite("Obstacles to random migrations") struct ObstacleSearchTests {
  private typealias Unique = ObstacleTrial.Unique
  private static let parts = 10

  @Test("A plan lists obstacles if and only if opening refuses them", arguments: 0..<parts)
  func plansAndRefusals(part: Int) throws {
    var counts = [0, 0, 0]
    for _ in 0..<TestLength.of(400, long: 10_000) / Self.parts {
      var random = SeededRandom()
      let seed = random.seed
      let trial = ObstacleTrial(random: &random)
      do {
        counts[try run(trial, naive: trial)] += 1
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
    // Every kind of ending has occurred.
    #expect(counts[0] > 0 && counts[1] > 0, "\(counts)")
  }

  /// Migrates a store with the objects of a trial, and compares the results with a naive search.
  ///
  /// - Returns: 0 if the store was migrated, 1 if the plan has obstacles, and 2 if they were found
  ///   in the copy.
  private func run(_ trial: ObstacleTrial, naive: ObstacleTrial) throws -> Int {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store.arbor")
    let (former, newer) = (trial.model(isNew: false), trial.model(isNew: true))
    let ids = try write(trial, former, url)
    let plan = try PersistentStore.migrationPlan(for: url, to: newer, options: trial.options)
    let duplicates = naive.duplicates(ids)
    let found = plan.obstacles.map(\.message)
    try expect(
      found.filter { $0.contains(" unique, but there are ") }.sorted(), duplicates.listed)
    try expect(
      found.contains { !$0.contains(" unique, but there are ") }, naive.isObstructed)
    let isHidden = found.isEmpty && !duplicates.hidden.isEmpty
    do {
      let store = try PersistentStore(model: newer, at: .file(url), options: trial.options)
      defer { store.close() }
      // Objects that only rules refuse are found by the check.
      if naive.changesFile { try store.check() }
      try expect(found + duplicates.hidden, [])
      return 0
    } catch let error as ArborError {
      if error.code != .modelMismatch { throw error }
      let messages = error.violations.map(\.message)
      try expect(
        isHidden ? messages.sorted() : messages, isHidden ? duplicates.hidden : found)
      if !isHidden {
        try expect(error.violations.map(\.entity), plan.obstacles.map(\.entity))
        try expect(error.violations.map(\.keyPath), plan.obstacles.map(\.property))
        try expect(error.violations.map(\.objectID), plan.obstacles.map(\.objectIDs.first))
      }
    }
    // The store is unchanged.
    let refusing = StoreOptions(migration: .refuse)
    let store = try PersistentStore(model: former, at: .file(url), options: refusing)
    defer { store.close() }
    try store.check()
    return isHidden ? 2 : 1
  }

  private func write(
    _ trial: ObstacleTrial, _ model: ManagedObjectModel, _ url: URL
  ) throws -> [ObjectID] {
    let store = try PersistentStore(
      model: model, at: .file(url), options: StoreOptions(durability: .relaxed))
    defer { store.close() }
    let context = store.makeContext()
    let groups = try (0..<trial.groups).map { _ in try context.insert("Group") }
    let objects = try trial.rows.map { row in
      let object = try context.insert(row.entity)
      for (name, value) in row.values { object[name] = value }
      if let owner = row.owner { object["owner"] = groups[owner] }
      return object
    }
    try context.commit()
    try store.check()
    return objects.map(\.objectID)
  }

  private func expect<Value: Equatable>(_ found: Value, _ expected: Value) throws {
    if found != expected {
      throw EvolvingStore.Mismatch("Found \(found) instead of \(expected).")
    }
  }

  // MARK: Control

  /// Changes of the model with two objects that share values, and a third that doesn't.
  private static let shared: KeyValuePairs<String, ObstacleTrial> = [
    "strings": trial(Unique(columns: ["text"]), ["text": "é"], ["text": "e\u{301}"]),
    "folded strings": trial(
      Unique(columns: ["text"], isFolded: true), ["text": "É"], ["text": "f"]),
    "binary": trial(
      Unique(columns: ["data"]), ["data": .binary(Data([0]))], ["data": .binary(Data([0, 0]))]),
    "decimals": trial(
      Unique(columns: ["amount"]), ["amount": .decimal(1.5)], ["amount": .decimal(1.25)]),
    "dates": trial(
      Unique(columns: ["day"]), ["day": .date(Date(timeIntervalSinceReferenceDate: 0.5))],
      ["day": .date(Date(timeIntervalSinceReferenceDate: 0))]),
    "several columns": trial(
      Unique(columns: ["text", "count"]), ["text": "a", "count": 1], ["text": "a", "count": 2]),
    "a condition": trial(
      Unique(columns: ["text"], condition: .isFlagged), ["text": "a", "flag": .boolean(true)],
      ["text": "a", "flag": .boolean(false)]),
    "defaults": trial(Unique(columns: ["text"]), [:], ["text": "a"]) { $0.mandatory["text"] = "b" },
    "counts from a pass": trial(Unique(columns: ["count"]), ["count": 1], ["count": 2]) {
      $0.isNarrowed = true
    },
    "a condition on counts from a pass": trial(
      Unique(columns: ["text"], condition: .isCounted), ["text": "a", "count": 3],
      ["text": "a", "count": 1]
    ) { $0.isNarrowed = true },
  ]

  private static func trial(
    _ unique: Unique, _ shared: [String: PropertyValue], _ other: [String: PropertyValue],
    _ change: (inout ObstacleTrial) -> Void = { _ in }
  ) -> ObstacleTrial {
    var trial = ObstacleTrial()
    trial.uniques = [unique]
    trial.rows = [shared, other, shared].map { ObstacleTrial.Row(values: $0) }
    change(&trial)
    return trial
  }

  @Test("Shared values are found, and a naive search that misses one of them disagrees")
  func plantedFaults() throws {
    for (name, trial) in Self.shared {
      #expect(try run(trial, naive: trial) > 0, "\(name)")
      var blind = trial
      blind.rows.removeLast()
      #expect(throws: EvolvingStore.Mismatch.self, "\(name)") { try run(trial, naive: blind) }
      // Without the last object, nothing prevents the migration.
      #expect(try run(blind, naive: blind) == 0, "\(name)")
    }
  }
}
