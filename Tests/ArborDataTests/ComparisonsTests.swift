import ArborData
import Foundation
import TestLength
import Testing

/// Every place that compares values agrees with one oracle: equality and hashing, predicates with
/// and without an index, groups, distinct rows, sections, live lists, unique indexes, identities of
/// imports and models, the detection of changes, and migration plans.
@Suite("Comparisons of values") struct ComparisonsTests {
  @Test("Every place compares the same way", arguments: ComparedKind.allCases)
  func everyPlaceAgrees(kind: ComparedKind) throws {
    let run = try ComparisonRun(kind, kind.tricky)
    try run.run()
    #expect(run.disagreements == [])
    // The pairs that another notion of equality would compare differently, each alone, so that a
    // place cannot agree by compensating errors.
    let (oracle, other) = (ComparisonOracle(), ComparisonOracle(isDistorted: true))
    for (index, value) in kind.tricky.enumerated() {
      for partner in kind.tricky[..<index]
      where oracle.areEqual(value, partner) != other.areEqual(value, partner) {
        let run = try ComparisonRun(kind, [value, partner])
        try run.run(planning: false)
        #expect(run.disagreements == [], "\(value.debugDescription), \(partner.debugDescription)")
      }
    }
  }

  @Test("Every place compares random values the same way")
  func randomValuesAgree() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for round in 0..<TestLength.of(60, long: 10_000) {
      let kind = ComparedKind.allCases[round % ComparedKind.allCases.count]
      let values = (0..<Int.random(in: 2...6, using: &random)).map { _ in kind.random(&random) }
      let run = try ComparisonRun(kind, values)
      try run.run(planning: round % 5 == 0)
      #expect(run.disagreements == [], "seed \(seed), round \(round), \(kind): \(values)")
      guard run.disagreements.isEmpty else { return }
    }
  }

  @Test(
    "A comparison by another notion of equality is detected at every place",
    arguments: [ComparedKind.string, .double, .decimal, .date, .uri, .binary])
  func anotherNotionIsDetected(kind: ComparedKind) throws {
    let run = try ComparisonRun(kind, kind.tricky, ComparisonOracle(isDistorted: true))
    try run.run()
    var expected = run.places
    // The stored form of a decimal has no trailing zeros, and that of a date no sign of zero.
    if kind == .decimal || kind == .date { expected.remove("changes") }
    // The values contain duplicates in either sense.
    expected.remove("plan")
    #expect(expected.subtracting(run.disagreements) == [])
  }
}
