import ArborLocks
import Foundation
import TestLength
import TestSupport
import Testing

/// Random requests on random data return the same results by index, by scan, in memory, with
/// pending changes, after their commit, after reopening, and from a naive evaluator that shares no
/// code with the library.
///
/// A disagreement reports the seed of the world it was found in, and `ARBOR_WORLD_SEED` reruns that
/// world alone. A normal run repeats the same requests, so that a failure indicates a change in the
/// code. `ARBOR_LONG_TESTS=1` runs a million new requests, and `ARBOR_CASES=n` another number.
@Suite("Random requests") struct DifferentialTests {
  /// The number of rounds of pending changes per world, and of requests per round.
  private static let rounds = 4
  private static let requests = 100

  private static let wanted =
    ProcessInfo.processInfo.environment["ARBOR_CASES"].flatMap { Int($0) }
    ?? TestLength.of(20_000, long: 1_000_000)

  @Test("Random requests return the same results as the naive evaluator")
  func everyPathAgreesWithTheNaiveEvaluator() async throws {
    if let text = ProcessInfo.processInfo.environment["ARBOR_WORLD_SEED"],
      let seed = UInt64(text)
    {
      try World(seed: seed).run(rounds: Self.rounds, requests: Self.requests)
      return
    }
    let first: UInt64 = TestLength.isLong ? SeededRandom().seed : 5_000_000
    let tally = Tally(first: first)
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask { Self.runWorlds(tally) }
      }
    }
    #expect(tally.disagreements == [], "worlds from seed \(first)")
    #expect(tally.cases >= Self.wanted || !tally.disagreements.isEmpty)
  }

  @Test("Worlds that disagreed before agree", arguments: [4_371_383_710_214_286_351] as [UInt64])
  func worldsThatOnceDisagreedAgree(seed: UInt64) throws {
    try World(seed: seed).run(rounds: Self.rounds, requests: Self.requests)
  }

  @Test("A wrong result is detected", arguments: [1, 2, 3] as [UInt64], [true, false])
  func noticesAWrongAnswer(seed: UInt64, asksForObjects: Bool) throws {
    #expect(throws: World.Disagreement.self) {
      try World(seed: seed).run(
        rounds: 0, requests: Self.requests, isDistorted: true, asksForObjects: asksForObjects)
    }
  }

  private static func runWorlds(_ tally: Tally) {
    while let seed = tally.nextSeed(upTo: wanted) {
      do {
        let world = try World(seed: seed)
        try world.run(rounds: rounds, requests: requests)
        tally.add(world.cases)
      } catch {
        tally.add(disagreement: "World \(seed): \(error)")
      }
    }
  }
}

/// The state that the lanes share.
private final class Tally: Sendable {
  private struct State {
    var nextSeed: UInt64
    var cases = 0
    var disagreements: [String] = []
  }

  private let state: Lock<State>

  init(first: UInt64) { state = Lock(State(nextSeed: first)) }

  var cases: Int { state.withLock { $0.cases } }
  var disagreements: [String] { state.withLock { $0.disagreements } }

  /// Returns the next world's seed, or `nil` once there have been enough cases or a disagreement.
  func nextSeed(upTo wanted: Int) -> UInt64? {
    state.withLock { state in
      guard state.cases < wanted, state.disagreements.isEmpty else { return nil }
      defer { state.nextSeed &+= 1 }
      return state.nextSeed
    }
  }

  func add(_ cases: Int) { state.withLock { $0.cases += cases } }

  func add(disagreement: String) { state.withLock { $0.disagreements.append(disagreement) } }
}
