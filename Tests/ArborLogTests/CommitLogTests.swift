import ArborLog
import TestSupport
import Testing

/// The log that tests of the protocol run on keeps what every log promises.
@Suite struct CommitLogTests {
  @Test func itKeepsTheContract() throws {
    let log = SimulatedLog()
    try CommitLogContract(log, log, seed: SeededRandom().seed).check()
  }
}
