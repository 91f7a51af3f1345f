import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborLog

/// The encoding of the contents of shared log entries.
@Suite struct LogContentTests {
  private static let contents: [LogContent] = [
    .commits([[1, 2, 3], [], [255]]),
    .model(ModelFingerprint(bits: 1 << 100 | 7), name: "version 2"),
    .snapshot(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()),
    .snapshot(UUID(), formerModel: ModelFingerprint(bits: 7)),
  ]

  @Test("A content survives encoding and decoding", arguments: contents)
  func itComesBack(content: LogContent) {
    #expect(LogContent(content.encoded()) == content)
  }

  @Test("Changing or removing any byte is detected", arguments: contents)
  func damageIsNoticed(content: LogContent) {
    let bytes = content.encoded()
    for offset in bytes.indices {
      var damaged = bytes
      damaged[offset] ^= 0x10
      #expect(LogContent(damaged) == nil)
      #expect(LogContent(Array(bytes[..<offset])) == nil)
    }
    #expect(LogContent(bytes + [0]) == nil)
  }

  @Test("An inconsistent entry is reported")
  func anEntryThatContradictsItselfIsNamed() {
    let log = SimulatedLog()
    let start = SharedPosition.Point(sequence: 4, chain: CommitChain(bits: 9))
    let whole = CommitLogEntry(.commits([[1], [2]]), after: start, upTo: 6)
    #expect(throws: Never.self) { try whole.content(of: log) }
    let short = CommitLogEntry(.commits([[1], [2]]), after: start, upTo: 5)
    let error = #expect(throws: ArborError.self) { try short.content(of: log) }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message
        == "Entry 5 of the log simulated is damaged or was written by a later version of the "
        + "library. Restore the log from a backup of the server.")
  }

  @Test("A digest is converted to bytes and back")
  func digestsAreBytes() {
    let digest = CommitLogDigest(bits: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
    #expect(digest.bytes == (1...16).reversed().map { UInt8($0) })
    #expect(CommitLogDigest(bytes: digest.bytes) == digest)
    #expect(CommitLogDigest(bytes: digest.bytes.dropLast()) == nil)
  }
}
