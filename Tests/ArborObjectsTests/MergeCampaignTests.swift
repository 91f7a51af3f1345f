import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Merges of every kind of value under every policy, compared with dictionaries.
@Suite struct MergeCampaignTests {
  private static func difference(
    contexts: Int, rounds: Int, seed: UInt64, hasBulk: Bool = false,
    fault: MergeHistory.Fault = .none
  ) throws -> String? {
    do {
      try ObjectStore.use(MergeCard.model(), classes: [MergeCard.self]) { store in
        var history = MergeHistory(
          store, contexts: contexts, seed: seed, hasBulk: hasBulk, fault: fault)
        try history.run(rounds: rounds)
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "Random commits of several contexts merge as the table says",
    arguments: [(2, false, 150), (3, false, 150), (2, true, 5)])
  func randomHistoriesAgree(contexts: Int, hasBulk: Bool, count: Int) throws {
    var seeds = TestLength.isLong ? SeededRandom() : SeededRandom(seed: UInt64(contexts))
    var failures = 0
    for _ in 0..<TestLength.of(count, long: 33 * count) {
      let seed = seeds.next()
      guard
        let text = try Self.difference(
          contexts: contexts, rounds: 4, seed: seed, hasBulk: hasBulk)
      else { continue }
      Issue.record("\(contexts) contexts: \(text)")
      failures += 1
      if failures > 5 { return }
    }
  }

  @Test("Histories in which the library and the table once disagreed agree")
  func knownHistoriesAgree() throws {
    let seeds: [Int: [UInt64]] = [
      2: [
        11_501_051_801_875_701_353, 7_674_600_512_283_837_379, 5_438_013_855_919_952_506,
        5_665_598_484_108_139_117, 12_055_634_052_804_547_619,
        14_175_713_781_983_660_466,
      ],
      3: [
        17_830_760_375_050_139_035, 3_755_971_897_328_633_693, 13_499_348_348_034_355_481,
        14_876_460_059_356_861_331, 17_173_234_333_574_541_104, 2_826_337_159_746_911_191,
      ],
    ]
    for (contexts, seeds) in seeds {
      for seed in seeds {
        let found = try Self.difference(contexts: contexts, rounds: 4, seed: seed)
        #expect(found == nil, "\(contexts) contexts")
      }
    }
  }

  /// One of two processes that run the same histories, each with half of the contexts.
  private struct Half: Codable, Sendable {
    let place: Int
    let folder: String
    let contexts: Int
    /// The seeds of the histories.
    let seeds: [UInt64]
    let fault: MergeHistory.Fault

    /// The file with the first difference.
    var findings: String { "\(folder)/findings-\(place)" }

    /// Runs the histories up to the first difference.
    func run() throws {
      var text = ""
      do { try runHistories() } catch { text = "\(error)" }
      try Data(text.utf8).write(to: URL(filePath: findings))
    }

    private func runHistories() throws {
      let partner = try MergePartner(place: place, folder: folder)
      let location = StoreLocation.file(URL(filePath: "\(folder)/merge.arbor"))
      for seed in seeds {
        // The first process makes the store and removes it.
        if place == 1 { try partner.meet() }
        let store = try PersistentStore(
          model: MergeCard.model(), at: location, classes: [MergeCard.self])
        defer { store.close() }
        if place == 0 { try partner.meet() }
        var history = MergeHistory(
          store, contexts: contexts, seed: seed, fault: fault, partner: partner)
        try history.run(rounds: 4)
        if place == 1 { store.close() }
        try partner.meet()
        guard place == 0 else { continue }
        try store.check()
        try store.destroy()
      }
    }
  }

  /// Returns the first differences that two processes find, or empty texts.
  private static func differencesOfProcesses(
    contexts: Int, seeds: [UInt64], fault: MergeHistory.Fault = .none
  ) async throws -> [String] {
    let folder = try TemporaryFolder()
    try MergePartner.makePipes(in: folder)
    let halves = [0, 1].map {
      Half(
        place: $0, folder: folder.url.path, contexts: contexts, seeds: seeds, fault: fault)
    }
    await withTaskGroup { group in
      for half in halves {
        group.addTask {
          await #expect(processExitsWith: .success) { [half = half as Half] in try half.run() }
        }
      }
    }
    return try halves.map { try String(contentsOfFile: $0.findings, encoding: .utf8) }
  }

  @Test("Commits of two processes merge as the table says", arguments: [2, 3])
  func historiesOfProcessesAgree(contexts: Int) async throws {
    var random = TestLength.isLong ? SeededRandom() : SeededRandom(seed: UInt64(contexts))
    let known: [UInt64] = contexts == 3 ? [10_209_010_634_972_694_895] : []
    let seeds = known + (0..<TestLength.of(20, long: 1500)).map { _ in random.next() }
    let found = try await Self.differencesOfProcesses(contexts: contexts, seeds: seeds)
    #expect(found == ["", ""])
  }

  @Test("A wrong rule is found between two processes")
  func faultsBetweenProcessesAreFound() async throws {
    let found = try await Self.differencesOfProcesses(
      contexts: 2, seeds: Array(1...100), fault: .wrongRule)
    #expect(found.contains { $0.contains("\nseed ") })
  }

  /// Not every history has a conflict that the fault decides differently.
  @Test("A wrong rule and a withheld change are found", arguments: [2, 3])
  func faultsAreFound(contexts: Int) throws {
    for fault in [MergeHistory.Fault.wrongRule, .withheldEdit] {
      let isFound = try (1...100).contains { seed in
        try Self.difference(contexts: contexts, rounds: 6, seed: seed, fault: fault) != nil
      }
      #expect(isFound, "\(fault)")
    }
  }
}
