import ArborObjects
import Foundation
import TestSupport
import Testing

/// Random histories of two contexts on one store, with undo and merges, against naive contexts of
/// dictionaries: after every step both say the same.
///
/// The seeds are the same in every run, 100,000 steps of them. Where `ARBOR_LONG_TESTS` is set, a
/// million steps are made of seeds that nobody has seen.
@Suite struct SharedContextsTests {
  private static let stepCount = 40
  private static let isLong = ProcessInfo.processInfo.environment["ARBOR_LONG_TESTS"] != nil

  @Test func randomHistoriesOfTwoContextsAgree() throws {
    var seeds = Self.isLong ? SeededRandom() : SeededRandom(seed: 1)
    let model = try PlainStore.model()
    for _ in 0..<(Self.isLong ? 25_000 : 2500) {
      let seed = seeds.next()
      do {
        try ObjectStore.use(model) { store in
          var history = SharedHistory(store, contexts: 2, seed: seed)
          try history.run(steps: Self.stepCount)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }
}
