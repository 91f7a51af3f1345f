import ArborLog
import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Copies of one store that write through a shared log.
@Suite struct SharedStoreTests {
  private static func faults(_ round: Int) -> SimulatedLog.Faults {
    var faults = SimulatedLog.Faults()
    if round % 3 > 0 { (faults.lostAnswers, faults.lateReads) = (100, 300) }
    if round % 3 > 1 { (faults.lostRequests, faults.outages) = (300, 50) }
    if round % 5 > 2 { faults.lateRequests = 100 }
    return faults
  }

  /// Whatever fails, the copies are equal in the end, acknowledged changes are applied once, and no
  /// number is used twice.
  @Test("Copies agree whatever fails", arguments: 0..<TestLength.of(10, long: 1000))
  func copiesComeOutTheSame(block: Int) throws {
    for round in 0..<TestLength.of(2, long: 100) {
      let seed = SeededRandom().seed
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let copies = try SharedCopies(3, in: folder, seed: seed, faults: Self.faults(block + round))
      copies.run(50)
      #expect(copies.problems.isEmpty, "seed \(seed), faults \(block + round)")
      #expect(copies.log.appends > 10)
    }
  }

  @Test("The random test detects each defect", arguments: SimulatedLog.Defect.allCases)
  func aDefectIsFound(defect: SimulatedLog.Defect) throws {
    for seed in UInt64(1)...20 {
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      do {
        let copies = try SharedCopies(
          3, in: folder, seed: seed, faults: SimulatedLog.Faults(), defect: defect)
        copies.run(60)
        if !copies.problems.isEmpty { return }
      } catch  where error is ArborError || error is StoreError {
        // The defect prevents the copies from joining the log.
        return
      }
    }
    Issue.record("Nobody noticed \(defect).")
  }
}
