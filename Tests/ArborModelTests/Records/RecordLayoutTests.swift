import ArborModel
import Foundation
import Testing

@Suite struct RecordLayoutTests {
  private func layout(_ kinds: [FieldKind], defaults: [PropertyValue] = []) -> RecordLayout {
    RecordLayout(
      entity: 1, number: 2,
      fields: kinds.enumerated().map { index, kind in
        (
          kind: kind, isTransient: false, catalogNumber: UInt16(index + 1),
          defaultValue: index < defaults.count ? defaults[index] : .null
        )
      })
  }

  @Test("Fields follow each other without gaps")
  func slotsFollowOneAnother() {
    let layout = layout(FieldKind.allCases)
    // Fifteen fields need two bytes of null bits after the eight bytes of the header.
    var offset = 10
    for (position, field) in layout.fields.enumerated() {
      #expect(Int(field.offset) == offset)
      #expect(Int(field.nullOffset) == 8 + position / 8)
      #expect(field.nullMask == 1 << UInt8(position % 8))
      offset += field.kind.width
    }
    #expect(layout.fixedEnd == offset)
    #expect(
      layout.variableFields.map(\.kind) == [.string, .binary, .decimal, .uri, .tagged, .json])
  }

  @Test("The bits for null values are rounded up to bytes", arguments: [0, 1, 7, 8, 9, 16, 17])
  func nullBitsRoundUp(count: Int) {
    let layout = layout(Array(repeating: .boolean, count: count))
    #expect(layout.fixedEnd == 8 + (count + 7) / 8 + count)
    #expect(layout.template.count == layout.fixedEnd)
  }

  /// The format is stored in files and must not change.
  @Test("The bytes of a record are fixed")
  func bytesAreFixed() {
    let layout = layout([.int16, .string, .int64], defaults: [258, "ab"])
    #expect(
      layout.template == [
        1, 0, 2, 0, 0, 0, 0, 0, 0b100, 2, 1, 27, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 97,
        98,
      ])
    let record = RecordBuffer(copying: layout.template, into: SlabAllocator())
    var sealed = [UInt8](repeating: 0, count: record.view.sealedSize(layout))
    sealed.withUnsafeMutableBytes {
      record.view.seal(
        into: $0, layout: layout, key: ObjectNumber(entity: 1, sequence: 1), version: 1)
    }
    #expect(sealed.count == layout.template.count + 4)
    #expect(Array(sealed[8..<29]) == Array(layout.template[8...]))
    #expect(Array(sealed[4..<8]) == [1, 0, 0, 0])
  }

  @Test("The raw values of field kinds are fixed")
  func rawValuesAreFixed() {
    let kinds: [FieldKind] = [
      .boolean, .int16, .int32, .int64, .float, .double, .date, .uuid, .reference, .string, .binary,
      .decimal, .uri, .tagged, .json,
    ]
    #expect(kinds.map(\.rawValue) == Array(1...15))
    #expect(kinds.count == FieldKind.allCases.count)
  }
}
