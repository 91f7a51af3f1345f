import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct ScrubRecordTests {
  private func decoded(_ bytes: [UInt8]) -> ScrubRecord? {
    bytes.withUnsafeBytes { ScrubRecord($0) }
  }

  private var record: ScrubRecord {
    var record = ScrubRecord(completed: Date(timeIntervalSinceReferenceDate: 7.5))
    record.begun = Date(timeIntervalSinceReferenceDate: 9)
    record.hasReadPages = true
    record.databases = [4, 1 << 40]
    return record
  }

  @Test("A scrub record survives a round trip through its encoding")
  func bytesComeBack() {
    for record in [ScrubRecord(), ScrubRecord(completed: .now), record] {
      #expect(decoded(record.encoded()) == record)
    }
  }

  @Test("A damaged scrub record is rejected, and invalid dates are ignored")
  func hostileBytesAreRefused() {
    let sound = record.encoded()
    for count in 0..<sound.count { #expect(decoded(Array(sound[..<count])) == nil) }
    for bit in 0..<8 * sound.count {
      var bytes = sound
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(decoded(bytes) == nil)
    }
    var writer = ByteWriter()
    writer.append(Double.nan.bitPattern)
    writer.append(Double.infinity.bitPattern)
    writer.append(UInt32(0))
    writer.appendChecksum()
    #expect(decoded(writer.bytes) == ScrubRecord())
  }
}
