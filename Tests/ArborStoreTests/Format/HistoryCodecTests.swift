import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct HistoryCodecTests {
  private let schema: ModelSchema

  init() throws { schema = try Self.schema() }

  /// Returns a schema of two entities with three attributes and two relationships stored as links.
  private static func schema(layout: UInt16 = 1) throws -> ModelSchema {
    func entity(_ name: String, _ other: String) -> EntityDescription {
      EntityDescription(
        name: name,
        attributes: ["a", "b", "c"].map { .init(name: $0, type: .string, isOptional: true) },
        relationships: ["r", "s"].map {
          RelationshipDescription(name: $0, destination: other, inverse: $0, isToMany: true)
        })
    }
    let model = ManagedObjectModel(entities: [entity("One", "Two"), entity("Two", "One")])
    var catalog = SchemaCatalog(numbering: model)
    catalog.entries["Two"]?.layoutNumber = layout
    return try ModelSchema(model, catalog: catalog)
  }

  private func decode(_ bytes: [UInt8], _ sequence: UInt64) -> HistoryEntry? {
    bytes.withUnsafeBytes { HistoryCodec.decode($0, sequence: sequence, schema) }
  }

  private func updates(_ changes: [(entity: UInt16, bits: UInt64)]) -> HistoryEntry {
    HistoryEntry(
      sequence: 5, date: Date(timeIntervalSinceReferenceDate: 1), author: nil, contextName: nil,
      isBulk: false,
      changes: changes.enumerated().map { index, change in
        .init(
          number: ObjectNumber(entity: change.entity, sequence: UInt64(index) + 1), kind: .update,
          changedProperties: change.bits)
      })
  }

  /// Changes the bytes of an entry and updates the checksum for sequence 5.
  private func forge(_ bytes: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
    var body = Array(bytes.dropLast(4))
    change(&body)
    let checksum = Checksum.of(body, seed: Checksum.seed(key: 5))
    return body + withUnsafeBytes(of: checksum.littleEndian, Array.init)
  }

  @Test("Random history entries survive a round trip through their encoding")
  func comesBackAsItWas() {
    var random = SeededRandom()
    for round in 0..<200 {
      let raw = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        ObjectNumber(
          entity: UInt16.random(in: 1...3, using: &random),
          sequence: UInt64.random(in: 1..<(1 << 48), using: &random)
            >> UInt64.random(in: 0...40, using: &random)
        ).rawValue
      }
      let changes = Set(raw).sorted().map { raw in
        let number = ObjectNumber(rawValue: raw)
        let kind: ChangeSet.RecordChange.Kind =
          [.insert, .update, .delete].randomElement(using: &random) ?? .insert
        // The third entity isn't in the model, so all of its properties may have changed.
        let isKnown = kind == .update && number.entity < 3
        return HistoryEntry.Change(
          number: number, kind: kind,
          changedProperties: isKnown
            ? random.next() & (EntitySchema.otherProperties | 0b11111) : .max)
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
        decode(HistoryCodec.encode(entry, schema), entry.sequence) == entry,
        "seed \(random.seed)")
    }
  }

  @Test("A changed byte, a truncation or another sequence makes an entry invalid")
  func everyByteCounts() {
    let entry = HistoryEntry(
      sequence: 5, date: Date(timeIntervalSinceReferenceDate: 1), author: "a", contextName: "b",
      isBulk: false,
      changes: [
        .init(number: ObjectNumber(entity: 1, sequence: 9), kind: .update, changedProperties: 6),
        .init(
          number: ObjectNumber(entity: 2, sequence: 9), kind: .update, changedProperties: 0b11010),
      ],
      tombstones: [
        .init(number: ObjectNumber(entity: 1, sequence: 8), values: ["x": .boolean(true)])
      ])
    let bytes = HistoryCodec.encode(entry, schema)
    #expect(decode(bytes, 5) == entry)
    for offset in bytes.indices {
      var changed = bytes
      changed[offset] ^= 0x40
      #expect(decode(changed, 5) == nil, "byte \(offset)")
    }
    for count in bytes.indices { #expect(decode(Array(bytes[..<count]), 5) == nil) }
    // An entry is valid only for its own sequence.
    #expect(decode(bytes, 6) == nil)
  }

  @Test("Lists that don't fit their bytes are invalid, but unknown property numbers are not")
  func forgedListsAreDamage() {
    let bytes = HistoryCodec.encode(updates([(1, 0b1001)]), schema)
    let list = bytes.count - 6
    #expect(bytes[list...].prefix(2) == [1, 1])
    #expect(decode(forge(bytes) { $0[list + 1] = 99 }, 5)?.changes.first?.changedProperties == 1)
    #expect(decode(forge(bytes) { $0[list] = 2 }, 5) == nil)
    #expect(decode(forge(bytes) { $0[list] = 0 }, 5) == nil)
    #expect(decode(forge(bytes) { $0.removeLast() }, 5) == nil)
    #expect(decode(forge(bytes) { $0[(list + 1)...] = [0xFF, 0xFF, 4] }, 5) == nil)
    #expect(
      decode(forge(bytes) { $0[list...] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1] }, 5)
        == nil)
  }
}
