import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random histories of several contexts on one store, with undo and merges, compared with naive
/// contexts of dictionaries after every step.
///
/// By default, every run uses the same seeds. If `ARBOR_LONG_TESTS` is set, it runs fifty times as
/// many histories with new seeds. A history that differs is reduced to the fewest steps that still
/// do.
@Suite("Random histories of several contexts") struct SharedContextsTests {
  /// Many short histories, which concentrate on few objects, and some long ones, in which changes
  /// accumulate.
  @Test(
    "Random histories of several contexts agree with naive contexts",
    arguments: [(2, 40, 150), (2, 100, 20), (3, 60, 80), (4, 120, 30), (3, 400, 9)])
  func randomHistoriesAgree(contexts: Int, steps: Int, count: Int) throws {
    try agree(contexts, steps, count)
  }

  @Test(
    "Random histories with ordered members agree with naive contexts",
    arguments: [(2, 40, 100), (3, 60, 50), (4, 120, 12)])
  func randomHistoriesOfOrdersAgree(contexts: Int, steps: Int, count: Int) throws {
    try agree(contexts, steps, count, isOrdered: true)
  }

  @Test(
    "Random histories with one-to-one pairs agree with naive contexts",
    arguments: [(2, 40, 100), (3, 60, 50), (4, 120, 12)])
  func randomHistoriesOfPairsAgree(contexts: Int, steps: Int, count: Int) throws {
    try agree(contexts, steps, count, isPaired: true)
  }

  @Test("Histories that failed before", arguments: [(3, 60, 11_630_916_500_963_613_893)])
  func knownHistoriesAgree(contexts: Int, steps: Int, seed: UInt64) throws {
    let history = Plan(contexts: contexts, seed: seed, steps: Array(0..<steps))
    #expect(try history.difference(PlainStore.model()) == nil)
  }

  @Test(
    "Histories with ordered members that failed before",
    arguments: [
      (2, 40, 9_955_541_042_718_047_772), (3, 60, 11_843_156_707_651_298_363),
      (4, 120, 8_749_615_702_165_606_421), (2, 40, 17_534_795_300_438_961_777),
      (4, 120, 16_195_546_806_396_023_477), (3, 60, 16_997_479_287_594_085_948),
      (3, 60, 5_900_368_801_224_569_673),
    ])
  func knownHistoriesOfOrdersAgree(contexts: Int, steps: Int, seed: UInt64) throws {
    let history = Plan(
      contexts: contexts, isOrdered: true, seed: seed, steps: Array(0..<steps))
    #expect(try history.difference(PlainStore.model(isOrdered: true)) == nil)
  }

  @Test(
    "Histories with pairs that failed before",
    arguments: [
      (3, 60, 16_494_337_345_632_248_344), (4, 120, 1_464_718_830_426_720_172),
      (4, 120, 397_586_346_182_114_062), (4, 120, 16_963_603_018_399_098_037),
    ])
  func knownHistoriesOfPairsAgree(contexts: Int, steps: Int, seed: UInt64) throws {
    let history = Plan(contexts: contexts, isPaired: true, seed: seed, steps: Array(0..<steps))
    let model = try PlainStore.model(isPaired: true)
    guard let difference = history.difference(model) else { return }
    Issue.record("\(history.shortened(difference, model).1)")
  }

  private func agree(
    _ contexts: Int, _ steps: Int, _ count: Int, isOrdered: Bool = false, isPaired: Bool = false
  ) throws {
    var seeds = TestLength.isLong ? SeededRandom() : SeededRandom(seed: UInt64(contexts * steps))
    let model = try PlainStore.model(isOrdered: isOrdered, isPaired: isPaired)
    for _ in 0..<TestLength.of(count, long: 50 * count) {
      let history = Plan(
        contexts: contexts, isOrdered: isOrdered, isPaired: isPaired, seed: seeds.next(),
        steps: Array(0..<steps))
      guard let difference = history.difference(model) else { continue }
      let (shortest, text) = history.shortened(difference, model)
      Issue.record("seed \(history.seed), steps \(shortest.steps): \(text)")
      return
    }
  }

  /// The parameters that reproduce a history.
  private struct Plan {
    let contexts: Int
    var isOrdered = false
    var isPaired = false
    let seed: UInt64
    var steps: [Int]

    /// Runs the history. Returns the first difference between the contexts and the naive ones.
    func difference(_ model: ManagedObjectModel) -> String? {
      do {
        try ObjectStore.use(model) { store in
          var history = SharedHistory(
            store, contexts: contexts, isOrdered: isOrdered, isPaired: isPaired, seed: seed)
          try history.run(steps: steps)
        }
        return nil
      } catch {
        return "\(error)"
      }
    }

    /// Returns the plan without the steps that the difference doesn't need.
    func shortened(_ difference: String, _ model: ManagedObjectModel) -> (Plan, String) {
      var shortest = self
      var difference = difference
      var length = steps.count
      while length > 1 {
        length = (length + 1) / 2
        var index = 0
        while index < shortest.steps.count {
          var plan = shortest
          plan.steps.removeSubrange(index..<min(index + length, plan.steps.count))
          if let text = plan.difference(model) {
            (shortest, difference) = (plan, text)
          } else {
            index += length
          }
        }
      }
      return (shortest, difference)
    }
  }
}
