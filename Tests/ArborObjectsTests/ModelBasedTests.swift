import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random histories of a context, compared with a naive graph of dictionaries after every step,
/// including commits, rollbacks, undo, redo, savepoints and rereading. Setting `ARBOR_LONG_TESTS`
/// runs fifty times as many.
@Suite("Random histories of a context") struct ModelBasedTests {
  @Test("Random histories agree with dictionaries")
  func randomHistoriesAgreeWithPlainDictionaries() throws {
    var seeds = SeededRandom()
    for _ in 0..<TestLength.of(200, long: 10_000) {
      let seed = seeds.next()
      do {
        try ObjectStore.use(PlainWorld.model()) { store in
          var history = RandomHistory(store, seed: seed)
          try history.run(steps: 40)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }

  @Test("Histories that failed before", arguments: [6_760_350_712_491_387_621] as [UInt64])
  func knownHistoriesAgree(
    seed: UInt64
  ) throws {
    try ObjectStore.use(PlainWorld.model()) { store in
      var history = RandomHistory(store, seed: seed)
      try history.run(steps: 40)
    }
  }

  @Test("Long histories agree with dictionaries", arguments: [1, 2, 3] as [UInt64])
  func longHistoriesAgree(seed: UInt64) throws {
    try ObjectStore.use(PlainWorld.model(), inMemory: false) { store in
      var history = RandomHistory(store, seed: seed)
      try history.run(steps: 600)
    }
  }
}
