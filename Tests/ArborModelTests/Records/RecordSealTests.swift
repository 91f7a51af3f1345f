import TestLength
import ArborModel
import CArborBits
import Foundation
import Testing

/// The stored form of records is compact, omits transient values, and detects any modification.
@Suite struct RecordSealTests {
  static let key = ObjectNumber(entity: 7, sequence: 99)

  @Test("A sealed record contains all stored values", arguments: 0..<10)
  func comesBackWhole(round: Int) throws {
    let seed = UInt64(500 + round)
    var fixture = RecordFixture(seed: seed, fields: 3 * round, world: try PredicateWorld())
    let layout = fixture.layout
    var record = RecordBuffer(copying: layout.template, into: fixture.allocator)
    for _ in 0..<60 where !layout.fields.isEmpty {
      let index = Int.random(in: 0..<layout.fields.count, using: &fixture.random.random)
      _ = record.set(layout.fields[index], fixture.value(index), allocator: fixture.allocator)
    }
    let commit = (1 << 48) - UInt64(1 + round)
    let bytes = fixture.sealed(record.view, key: Self.key, version: 5, commit: commit)
    withUnalignedView(bytes) { view in
      #expect(view.verify(layout, key: Self.key) == nil, "seed \(seed)")
      #expect(view.version == 5)
      #expect(view.commit == commit)
      #expect(view.contentSize(layout) + RecordLayout.trailerSize == bytes.count)
      for field in layout.fields {
        let expected: PropertyValue = field.isTransient ? .null : record.view.value(field)
        #expect(view.value(field) == expected, "seed \(seed)")
      }
      // Sealing a sealed record again yields the same bytes.
      let again = fixture.sealed(view, key: Self.key, version: 5, commit: commit)
      #expect(again == bytes, "seed \(seed)")
    }
    // A stored record can be modified again, with or without its commit and checksum.
    let kept = round.isMultiple(of: 2) ? bytes : Array(bytes.dropLast(RecordLayout.trailerSize))
    var reopened = RecordBuffer(copying: kept, into: fixture.allocator)
    for (index, field) in layout.fields.enumerated() {
      let value = fixture.value(index)
      guard reopened.set(field, value, allocator: fixture.allocator) else { continue }
      #expect(PropertyValue.compare(reopened.view.value(field), value) == .equal, "seed \(seed)")
    }
  }

  @Test("A changed bit, a truncation or an additional byte is detected")
  func noBitFlipPasses() throws {
    var fixture = RecordFixture(seed: 520, fields: 14, world: try PredicateWorld())
    var record = RecordBuffer(copying: fixture.layout.template, into: fixture.allocator)
    for (index, field) in fixture.layout.fields.enumerated() {
      _ = record.set(field, fixture.value(index), allocator: fixture.allocator)
    }
    var bytes = fixture.sealed(record.view, key: Self.key, version: 1)
    for byteIndex in bytes.indices {
      for bit in 0..<8 {
        bytes[byteIndex] ^= 1 << bit
        let damage = withUnalignedView(bytes) { $0.verify(fixture.layout, key: Self.key) }
        #expect(damage != nil, "bit \(bit) of byte \(byteIndex)")
        bytes[byteIndex] ^= 1 << bit
      }
    }
    #expect(withUnalignedView(bytes) { $0.verify(fixture.layout, key: Self.key) } == nil)
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      #expect(withUnalignedView(cut) { $0.verify(fixture.layout, key: Self.key) } != nil)
    }
    let longer = bytes + [0]
    #expect(withUnalignedView(longer) { $0.verify(fixture.layout, key: Self.key) } != nil)
  }

  @Test("A sealed record is invalid under another key or layout, and in another store")
  func anotherKeyOrLayoutDoesNotPass() throws {
    let fixture = RecordFixture(seed: 530, fields: 5, world: try PredicateWorld())
    let record = RecordBuffer(copying: fixture.layout.template, into: fixture.allocator)
    let bytes = fixture.sealed(record.view, key: Self.key, version: 1)
    for key in [
      ObjectNumber(entity: 7, sequence: 98), ObjectNumber(entity: 6, sequence: 99),
      ObjectNumber(entity: 7, sequence: 99 | 1 << 47),
    ] {
      #expect(withUnalignedView(bytes) { $0.verify(fixture.layout, key: key) } == .badChecksum)
    }
    let elsewhere = RecordLayout(entity: 8, number: 3, fields: [])
    #expect(withUnalignedView(bytes) { $0.verify(elsewhere, key: Self.key) } == .badChecksum)
    let another = RecordLayout(entity: 7, number: 3, seed: 1, fields: [])
    #expect(withUnalignedView(bytes) { $0.verify(another, key: Self.key) } == .badChecksum)
    let later = RecordLayout(entity: 7, number: 4, fields: [])
    #expect(withUnalignedView(bytes) { $0.verify(later, key: Self.key) } == .otherLayout)
  }

  @Test("Fields that don't fill the record, or overlap, are detected")
  func fieldsFillTheRecord() throws {
    let layout = RecordLayout(
      entity: 7, number: 3,
      fields: [
        (kind: .string, isTransient: false, catalogNumber: 1, defaultValue: "abc"),
        (kind: .binary, isTransient: false, catalogNumber: 2, defaultValue: .null),
        (kind: .string, isTransient: false, catalogNumber: 3, defaultValue: "defg"),
      ])
    let record = RecordBuffer(copying: layout.template, into: SlabAllocator())
    let ends = layout.fields.map { Int($0.offset) }
    for (byteIndex, value) in [
      (ends[0], 1), (ends[0], 5), (ends[0] + 3, 0x80), (ends[1], 0xFF), (ends[1], 5),
      (ends[2], 1), (ends[2], 0xFF), (ends[2] + 1, 1), (ends[2] + 3, 0xFF),
    ] {
      var bytes = [UInt8](repeating: 0, count: record.view.sealedSize(layout))
      bytes.withUnsafeMutableBytes {
        record.view.seal(into: $0, layout: layout, key: Self.key, version: 1, commit: 1)
      }
      bytes[byteIndex] = bytes[byteIndex] &+ UInt8(value)
      let end = bytes.count - 4
      let checksum = bytes.withUnsafeBytes {
        RecordChecksum.of($0.baseAddress!, count: end, layout, key: Self.key)
      }
      for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
      #expect(withUnalignedView(bytes) { $0.verify(layout, key: Self.key) } == .fieldOutOfBounds)
    }
  }

  /// The checksum agrees with a bitwise implementation of its definition (RFC 3720, appendix B.4)
  /// for every length and alignment.
  @Test("The checksum matches its definition")
  func theChecksumIsTheDefinition() {
    var random = SplitMix(seed: 3720)
    let bytes = (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
    let key = ObjectNumber(entity: 3, sequence: UInt64.random(in: 1..<1 << 40, using: &random))
    let prefix =
      (0..<8).map { UInt8(truncatingIfNeeded: key.rawValue >> (8 * $0)) } + [0x34, 0x12]
    let layout = RecordLayout(entity: 0x1234, number: 1, seed: 0x89AB_CDEF, fields: [])
    for start in 0..<8 {
      for count in 0...(bytes.count - start) {
        let found = bytes.withUnsafeBytes {
          RecordChecksum.of($0.baseAddress! + start, count: count, layout, key: key)
        }
        let wanted = Self.castagnoli(prefix + bytes[start..<(start + count)]) ^ 0x89AB_CDEF
        #expect(found == wanted, "\(count) bytes from \(start) on")
      }
    }
  }

  @Test(
    "Comparing the checksums of several records at once agrees with comparing them one by one",
    arguments: [1, 2, 63, 64])
  func checksumsAreComparedTogether(count: Int) {
    var random = SplitMix(seed: UInt64(count))
    var memory: [[UInt8]] = []
    for number in 1...count {
      var bytes = (0..<Int.random(in: 8...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let checksum = bytes.withUnsafeBytes {
        arbor_record_crc32c(UInt64(number), 7, $0.baseAddress, $0.count) ^ 530
      }
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
      if Bool.random(using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      }
      memory.append(bytes)
    }
    // A record that is too short for a checksum.
    memory[count / 2] = Array(memory[count / 2].prefix(11))
    var wanted: UInt64 = 0
    for (byteIndex, bytes) in memory.enumerated() where bytes.count >= 12 {
      let found = bytes.withUnsafeBytes {
        arbor_record_crc32c(UInt64(byteIndex + 1), 7, $0.baseAddress, $0.count - 4) ^ 530
      }
      let stored = bytes.suffix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      if found == stored { wanted |= 1 << UInt64(byteIndex) }
    }
    let copies = memory.map { bytes in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 2)
      copy.copyBytes(from: bytes)
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    let records = copies.enumerated().map { byteIndex, copy in
      arbor_record(key: UInt64(byteIndex + 1), base: copy.baseAddress, count: copy.count)
    }
    #expect(arbor_records_intact(records, records.count, 7, 530) == wanted)
  }

  private static func castagnoli(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { checksum, byte in
      (0..<8).reduce(checksum ^ UInt32(byte)) { state, _ in
        state & 1 == 1 ? state >> 1 ^ 0x82F6_3B78 : state >> 1
      }
    }
  }
}
