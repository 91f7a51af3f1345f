import ArborModel
import Foundation
import LMDB
import TestLength
import TestSupport
import Testing

@testable import ArborStore

/// Counts of access paths, compared with the numbers they find.
@Suite struct StoredCountsTests {
  /// Calls `body` with the access paths that are candidates for random predicates.
  private func forEachCandidate(
    _ body: (AccessCandidate, QueryPlanner<StoredCounts>, QuerySource, String) throws -> Void
  ) throws {
    var random = SeededRandom()
    let seed = random.seed
    var world = try QueryWorld(isIndexed: true)
    try world.fill(300, using: &random)
    let snapshot = try world.store.snapshot()
    let source = try snapshot.source
    for round in 0..<TestLength.of(200, long: 5000) {
      let test = QueryCase.random(world, using: &random)
      let environment = PredicateEnvironment(
        schema: world.store.schema, storeID: world.store.id)
      let planner = QueryPlanner(
        scope: try PlanScope(test.query(world), environment, overlay: nil),
        counts: StoredCounts(source))
      let candidates = planner.candidates(planner.conjuncts)
      for candidate in candidates.all().compactMap({ candidates.candidate($0) }) {
        try body(candidate, planner, source, "\(test), seed \(seed), round \(round)")
      }
    }
    snapshot.close()
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  @Test("Exact counts equal the numbers of rows found")
  func exactCountsAreThoseOfTheNumbers() throws {
    var exact = 0
    try forEachCandidate { candidate, planner, source, note in
      let family = planner.family
      let numbers = try CandidateCollector(source: source, family: family).collect(candidate)
      let count = try #require(
        try planner.counts.count(candidate, of: family, upTo: .max, effort: .max))
      guard count.isExact else { return }
      exact += 1
      #expect(count.rows == numbers?.count, "\(note)")
      if let whole = try planner.counts.exactCount(of: candidate, family) {
        #expect(whole == count.rows, "\(note)")
      }
    }
    #expect(exact > 50)
  }

  @Test("Counting gives up exactly when collecting does")
  func boundsEndCountingWhereTheyEndGathering() throws {
    try forEachCandidate { candidate, planner, source, note in
      let family = planner.family
      for (most, effort) in [(0, 10), (3, 100), (20, 1000), (.max, 40), (5, .max)] {
        let stored = try planner.counts.count(
          candidate, of: family, upTo: most, effort: effort)
        // A new instance, because it caches earlier answers.
        let gathered = try CollectingCounts(source).count(
          candidate, of: family, upTo: most, effort: effort)
        guard stored?.isExact ?? true else { continue }
        if case .words = candidate.accessPath { continue }
        #expect((stored == nil) == (gathered == nil), "\(note)")
      }
    }
  }
}
