import ArborData
import Testing

@testable import lmdb_inspect

/// Plans of queries as text.
@Suite struct PlanTextTests {
  private func line(estimated: Int, actual: Int) -> String {
    let step = QueryPlan.Step(
      .scan, name: "Item", estimatedRows: estimated, actualRows: actual,
      duration: .milliseconds(1))
    return PlanText.text(QueryPlan(step))
  }

  /// The bounds are those of the browser's page.
  @Test("A wrong estimate is marked")
  func wrongEstimatesAreMarked() {
    #expect(line(estimated: 10, actual: 900).contains("· estimated 10 (90 × more) ·"))
    #expect(line(estimated: 1000, actual: 100).contains("· estimated 1000 (10 × fewer) ·"))
    #expect(line(estimated: 0, actual: 25).contains("· estimated 0 (25 × more) ·"))
    for (estimated, actual) in [(1000, 1200), (100, 301), (1, 20), (5, 1), (7, 7)] {
      let text = line(estimated: estimated, actual: actual)
      #expect(text.contains("· estimated \(estimated) ·"), "\(text)")
    }
  }
}
