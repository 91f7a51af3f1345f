import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Stores that are migrated from one random model to another, compared with expected contents.
@Suite("Migrations between pairs of random models") struct RandomModelPairsTests {
  private static let parts = 20

  /// For each pair of models, the store is migrated, compared, written to, checked, and reverted or
  /// copied.
  @Test("Stores are migrated between random pairs of models", arguments: 0..<parts)
  func storesGoFromModelToModel(part: Int) throws {
    if let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap({ UInt64($0) }) {
      if part == 0 { try run(SeededRandom(seed: given)) }
      return
    }
    for _ in 0..<TestLength.of(200, long: 10_000) / Self.parts {
      do { try run(SeededRandom()) } catch { Issue.record("\(error)") }
    }
  }

  /// Regression tests: properties that move to a name in use, and links that a reverted move omits.
  @Test(
    "Pairs of models that failed before are migrated",
    arguments: [
      15_900_481_285_092_156_590, 2_827_869_177_659_601_719, 15_709_762_985_590_579_850,
    ])
  func pairsThatFailedOnce(seed: UInt64) throws { try run(SeededRandom(seed: seed)) }

  private func run(_ random: SeededRandom) throws {
    var generator = ModelGenerator(random)
    let old = generator.concept
    generator.change()
    let new = generator.concept
    let before = ConceptObjects(old, fitting: new, &generator.random)
    let after = before.carried(from: old, to: new)
    let returned = after.carried(from: new, to: old)
    let ending = ModelTrial.Ending.allCases.randomElement(using: &generator.random) ?? .copy
    do {
      var trial = try ModelTrial(
        from: old.model(), before.plain(old), to: new.model(after: old), after.plain(new))
      trial.returned = returned.plain(old)
      trial.freeOrders = after.freeOrders(new).union(returned.freeOrders(old))
      try trial.run(ending, &generator.random)
    } catch {
      let changes = generator.words.joined(separator: ", ")
      throw EvolvingStore.Mismatch(
        "ARBOR_SEED=\(random.seed), \(changes), then \(ending): \(error)")
    }
  }
}
