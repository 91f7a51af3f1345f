import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@Suite struct HistoryCodecTests {
  private func decode(_ bytes: [UInt8], _ sequence: UInt64) -> HistoryEntry? {
    bytes.withUnsafeBytes { HistoryCodec.decode($0, sequence: sequence) }
  }

  @Test func comesBackAsItWas() {
    var random = SeededRandom()
    for round in 0..<200 {
      let raw = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt64.random(in: 1...(.max), using: &random) >> UInt64.random(in: 0...60, using: &random)
      }
      let changes = Set(raw).sorted().map { number in
        let kind: ChangeSet.RecordChange.Kind =
          [.insert, .update, .delete].randomElement(using: &random) ?? .insert
        return HistoryEntry.Change(
          number: ObjectNumber(rawValue: number), kind: kind,
          changedProperties: kind == .update ? random.next() : .max)
      }
      let entry = HistoryEntry(
        sequence: random.next(),
        date: Date(timeIntervalSinceReferenceDate: Double(round) * 1e6 + 0.125),
        author: Bool.random(using: &random) ? "Ada 😀" : nil,
        contextName: Bool.random(using: &random) ? "" : nil,
        isBulk: Bool.random(using: &random), changes: changes,
        tombstones: changes.filter { $0.kind == .delete }.map { change in
          .init(
            number: change.number,
            values: round.isMultiple(of: 2)
              ? [:] : ["a": .string("😀"), "": .integer(3), "l": .list([.null, .date(.now)])])
        })
      #expect(
        decode(HistoryCodec.encode(entry), entry.sequence) == entry, "seed \(random.seed)")
    }
  }

  @Test func everyByteCounts() {
    let entry = HistoryEntry(
      sequence: 5, date: Date(timeIntervalSinceReferenceDate: 1), author: "a", contextName: "b",
      isBulk: false,
      changes: [
        .init(number: ObjectNumber(entity: 1, sequence: 9), kind: .update, changedProperties: 6)
      ],
      tombstones: [
        .init(number: ObjectNumber(entity: 1, sequence: 8), values: ["x": .boolean(true)])
      ])
    let bytes = HistoryCodec.encode(entry)
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0x40
      #expect(decode(changed, 5) == nil, "byte \(place)")
    }
    for count in bytes.indices { #expect(decode(Array(bytes[..<count]), 5) == nil) }
    // It is the entry of its own sequence only.
    #expect(decode(bytes, 6) == nil)
  }
}
