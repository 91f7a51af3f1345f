import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct HeaderRecordTests {
  private func header() throws -> HeaderRecord {
    HeaderRecord(
      pageSize: 4096, modelGeneration: 3, storeID: UUID(),
      modelFingerprint: try OfficeModel.make().fingerprint, transactionID: 77, bootID: UUID(),
      sequence: HeaderRecord.maximumCommits)
  }

  private func problem(_ bytes: [UInt8]) -> HeaderRecord.Problem? {
    do throws(HeaderRecord.Problem) {
      _ = try bytes.withUnsafeBufferPointer { (bytes) throws(HeaderRecord.Problem) in
        try HeaderRecord(UnsafeRawBufferPointer(bytes))
      }
      return nil
    } catch {
      return error
    }
  }

  @Test("A header survives a round trip through its encoding")
  func comesBackAsItWas() throws {
    let header = try header()
    let bytes = header.encoded()
    #expect(bytes.count == HeaderRecord.size)
    let read = try bytes.withUnsafeBytes { try HeaderRecord($0) }
    #expect(read == header)
  }

  @Test("A change of any byte is detected and reported with its cause")
  func everyByteCounts() throws {
    let bytes = try header().encoded()
    for offset in bytes.indices {
      var changed = bytes
      changed[offset] ^= 1
      let found = problem(changed)
      switch offset {
      case 0..<8: #expect(found == .foreign)
      case 12..<14: #expect(found == .otherByteOrder)
      default: #expect(found == .damaged, "byte \(offset)")
      }
    }
  }

  @Test("Counts that no store reaches are damage, even if the checksum is valid")
  func countsBeyondReasonAreDamage() throws {
    let sound = try header()
    #expect(problem(sound.encoded()) == nil)
    for count in [HeaderRecord.maximumCommits + 1, 1 << 63, .max - 1, .max] {
      var header = sound
      header.sequence = count
      #expect(problem(header.encoded()) == .damaged, "sequence \(count)")
      header = sound
      header.transactionID = HeaderRecord.maximumTransactions + (count & 1 << 62) + 1
      #expect(problem(header.encoded()) == .damaged, "transaction \(header.transactionID)")
    }
    for count in [HeaderRecord.maximumGeneration + 1, .max - 1, .max] {
      var header = sound
      header.modelGeneration = count
      #expect(problem(header.encoded()) == .damaged, "generation \(count)")
    }
  }

  @Test("A generation can be read if all later ones leave its readers valid, up to 255 of them")
  func generationsThatMayReadAreCounted() throws {
    var header = try header()
    #expect(header.mayBeRead(byGeneration: 3))
    #expect(!header.mayBeRead(byGeneration: 2) && !header.mayBeRead(byGeneration: 4))
    header.beginGeneration(leavesReaders: true)
    header.beginGeneration(leavesReaders: true)
    let read = try header.encoded().withUnsafeBytes { try HeaderRecord($0) }
    #expect(read == header && read.modelGeneration == 5)
    #expect((3...5).allSatisfy { read.mayBeRead(byGeneration: $0) })
    #expect(!read.mayBeRead(byGeneration: 2) && !read.mayBeRead(byGeneration: 6))
    header.beginGeneration(leavesReaders: false)
    #expect(header.mayBeRead(byGeneration: 6) && !header.mayBeRead(byGeneration: 5))
    for _ in 0..<300 { header.beginGeneration(leavesReaders: true) }
    #expect(header.mayBeRead(byGeneration: 306) && header.mayBeRead(byGeneration: 306 - 255))
    #expect(!header.mayBeRead(byGeneration: 306 - 256))
  }

  @Test("A truncated header is reported as damaged or as a foreign file")
  func shortBytesAreDamagedOrForeign() throws {
    let bytes = try header().encoded()
    for count in 0..<bytes.count {
      #expect(problem(Array(bytes[..<count])) == (count < 8 ? .foreign : .damaged))
    }
  }

  @Test("A damaged version number is damage, not another format")
  func damagedVersionsAreDamage() throws {
    let bytes = try header().encoded()
    for bit in 0..<16 {
      var changed = bytes
      changed[8 + bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(problem(changed) == .damaged, "bit \(bit)")
    }
    // Together with another change, it is the version of something else.
    for (major, expected) in [
      (4, HeaderRecord.Problem.tooOld(major: 4, minor: 0)), (7, .tooNew(major: 7, minor: 0)),
    ] {
      var changed = bytes
      changed[8] = UInt8(major)
      changed[30] ^= 1
      #expect(problem(changed) == expected)
    }
  }

  @Test("A header with an unknown feature is refused with its version")
  func unknownFeaturesAreRefused() throws {
    for bit in 0..<32 {
      var later = try header()
      later.minorVersion = 3
      later.features = 1 << UInt32(bit)
      #expect(problem(later.encoded()) == .tooNew(major: StoreFormat.majorVersion, minor: 3))
    }
  }

  @Test("A later major version of the format is reported with its number")
  func laterFormatsAreNamed() throws {
    var later = try header()
    later.majorVersion = 9
    later.minorVersion = 4
    // A later format may define anything after its version.
    let bytes = Array(later.encoded()[..<40])
    #expect(problem(bytes) == .tooNew(major: 9, minor: 4))
    var minor = try header()
    minor.minorVersion = 12
    #expect(problem(minor.encoded()) == nil)
  }
}
