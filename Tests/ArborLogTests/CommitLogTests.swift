import ArborLog
import TestSupport
import Testing

/// The simulated log, which must fulfill the contract of every log.
@Suite struct CommitLogTests {
  @Test("The simulated log fulfills the contract of every log")
  func itKeepsTheContract() throws {
    let log = SimulatedLog()
    try CommitLogContract(log, log, seed: SeededRandom().seed).check()
  }
}
