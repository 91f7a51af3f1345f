import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Stores that go from one random model to another, beside plain objects.
@Suite struct RandomModelPairsTests {
  private static let parts = 20

  /// Each pair of models: open, compare, write to every entity, check, and go back or copy.
  @Test(arguments: 0..<parts)
  func storesGoFromModelToModel(part: Int) throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    if given != nil, part > 0 { return }
    for _ in 0..<TestLength.of(200, long: 10_000) / Self.parts {
      let random = given.map { SeededRandom(seed: $0) } ?? SeededRandom()
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
        Issue.record("ARBOR_SEED=\(random.seed), \(changes), then \(ending): \(error)")
        if given != nil { throw error }
      }
      if given != nil { return }
    }
  }
}
