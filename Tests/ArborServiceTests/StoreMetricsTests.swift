import ArborData
import Metrics
import MetricsTestKit
import Testing

@testable import ArborService

/// The metrics of a store.
@Suite struct StoreMetricsTests {
  private func use(
    entities: Int = 1, _ body: (TestMetrics, StoreMetrics, PersistentStore) throws -> Void
  ) throws {
    let kept = TestMetrics()
    let metrics = StoreMetrics(of: "parts", kept)
    var options = StoreOptions()
    options.instrument = metrics.instrument
    let descriptions = (0..<entities).map { index in
      EntityDescription(
        name: "Part\(index)",
        attributes: [AttributeDescription(name: "code", type: .integer64, defaultValue: 0)],
        uniquenessConstraints: [["code"]])
    }
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: descriptions), at: .inMemory, options: options)
    defer { store.close() }
    try body(kept, metrics, store)
  }

  private static let store = ("store", "parts")

  @Test("Commits are counted by outcome")
  func commitsAreCountedByTheirOutcome() throws {
    try use { kept, _, store in
      let context = store.makeContext()
      for code in 1...2 {
        try context.insert("Part0")["code"] = code
        try context.commit()
      }
      try context.insert("Part0")["code"] = 1
      #expect(throws: ArborError.self) { try context.commit() }
      let name = "arbor_commits_total"
      #expect(kept.counterTotal(label: name, dimensions: [Self.store, ("outcome", "ok")]) == 2)
      #expect(
        kept.counterTotal(label: name, dimensions: [Self.store, ("outcome", "notUnique")]) == 1)
      let timer = try kept.expectTimer("arbor_commit_duration", [Self.store])
      #expect(timer.values.count == 3)
      #expect(timer.values.allSatisfy { $0 > 0 })
      #expect(kept.counterTotal(label: "arbor_commit_conflicts_total") == 0)
    }
  }

  @Test("Conflicts are counted whether they are merged or thrown")
  func conflictsAreCountedWhetherDecidedOrThrown() throws {
    try use { kept, _, store in
      let (context, other) = (store.makeContext(), store.makeContext())
      let part = try context.insert("Part0")
      try context.commit()
      other.automaticallyMergesCommits = false
      for (index, policy) in [MergePolicy.error, .mergeByPropertyObjectWins].enumerated() {
        other.mergePolicy = policy
        try other.object(with: part.objectID)["code"] = 10 + index
        part["code"] = 20 + index
        try context.commit()
        try? other.commit()
        other.rollback()
        #expect(kept.counterTotal(label: "arbor_commit_conflicts_total") == Int64(index + 1))
      }
    }
  }

  @Test("Fetches are counted by entity and kind")
  func fetchesAreCountedByEntityAndKind() throws {
    try use(entities: 2) { kept, _, store in
      let context = store.makeContext()
      _ = try context.fetch("Part0")
      _ = try context.fetch("Part0", matching: "code == 1")
      _ = try context.objects("Part1").count()
      func total(_ entity: String, _ kind: String) -> Int64 {
        kept.counterTotal(
          label: "arbor_fetches_total",
          dimensions: [Self.store, ("entity", entity), ("kind", kind), ("outcome", "ok")])
      }
      #expect(total("Part0", "objects") == 2)
      #expect(total("Part1", "count") == 1)
      let timer = try kept.expectTimer(
        "arbor_fetch_duration", [Self.store, ("entity", "Part0"), ("kind", "objects")])
      #expect(timer.values.count == 2)
    }
  }

  @Test("Entities beyond a limit share one label")
  func entitiesBeyondABoundShareOneLabel() throws {
    let most = StoreMetrics.maximumEntities
    try use(entities: most + 2) { kept, _, store in
      let context = store.makeContext()
      for _ in 0..<2 {
        for index in 0..<(most + 2) { _ = try context.objects("Part\(index)").count() }
      }
      let labels = Set(
        kept.counters(label: "arbor_fetches_total").map { counter in
          counter.dimensions.first { $0.0 == "entity" }?.1
        })
      #expect(labels.count == most + 1)
      #expect(
        kept.counterTotal(
          label: "arbor_fetches_total",
          dimensions: [
            Self.store, ("entity", "other"), ("kind", "count"), ("outcome", "ok"),
          ]) == 4)
    }
  }

  @Test("Gauges report the sizes of the file")
  func gaugesTellOfTheFile() throws {
    try use { kept, metrics, store in
      try metrics.sample(store)
      let space = try store.spaceUsage()
      #expect(
        try kept.expectMeter("arbor_file_bytes", [Self.store]).lastValue == Double(space.file))
      #expect(
        try kept.expectMeter("arbor_free_bytes", [Self.store]).lastValue == Double(space.free))
      #expect(try kept.expectMeter("arbor_readers", [Self.store]).lastValue != nil)
      #expect(try kept.expectMeter("arbor_pinned_bytes", [Self.store]).lastValue == 0)
      #expect(kept.meters(label: "arbor_log_lag").isEmpty)
      store.close()
      let error = #expect(throws: ArborError.self) { try metrics.sample(store) }
      #expect(error?.code == .closed)
    }
  }

  @Test("Without a factory, the program's metrics factory is used")
  func withoutAFactoryThePrograms() throws {
    let kept = TestMetrics()
    withMetricsFactory(kept) { StoreMetrics(of: "parts", nil).noteBackUp("ok", .seconds(1)) }
    #expect(kept.counterTotal(label: "arbor_backups_total") == 1)
    #expect(kept.timers(label: "arbor_backup_duration").map(\.lastValue) == [1_000_000_000])
  }
}
