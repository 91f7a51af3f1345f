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

  @Test("Fixed fields follow each other without gaps, and then the ends of the others")
  func slotsFollowOneAnother() {
    let layout = layout(FieldKind.allCases.reversed())
    // Fifteen fields need two bytes of null bits after the seven bytes of the header.
    var offset = 9
    for field in layout.fields.filter({ !$0.kind.isVariable }) + layout.variableFields {
      #expect(Int(field.offset) == offset)
      offset += field.kind.width
    }
    for (position, field) in layout.fields.enumerated() {
      #expect(Int(field.nullOffset) == 7 + position / 8)
      #expect(field.nullMask == 1 << UInt8(position % 8))
    }
    #expect(layout.fixedEnd == offset)
    #expect(
      layout.variableFields.map(\.kind) == [.json, .tagged, .uri, .decimal, .binary, .string])
  }

  @Test("The bits for null values are rounded up to bytes", arguments: [0, 1, 7, 8, 9, 16, 17])
  func nullBitsRoundUp(count: Int) {
    let layout = layout(Array(repeating: .boolean, count: count))
    #expect(layout.fixedEnd == 7 + (count + 7) / 8 + count)
    #expect(layout.template.count == layout.fixedEnd)
  }

  /// The format is stored in files and must not change.
  @Test("The bytes of a record are fixed")
  func bytesAreFixed() {
    let layout = layout([.int16, .string, .int64], defaults: [258, "ab"])
    #expect(
      layout.template == [
        0, 2, 0, 0, 0, 0, 0, 0b100, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 97, 98,
      ])
    let record = RecordBuffer(copying: layout.template, into: SlabAllocator())
    var sealed = [UInt8](repeating: 0, count: record.view.sealedSize(layout))
    sealed.withUnsafeMutableBytes {
      record.view.seal(
        into: $0, layout: layout, key: ObjectNumber(entity: 1, sequence: 1), version: 1,
        commit: 0x0605_0403_0201)
    }
    let end = layout.template.count
    #expect(sealed.count == end + 10)
    #expect(Array(sealed[7..<end]) == Array(layout.template[7...]))
    #expect(Array(sealed[3..<7]) == [1, 0, 0, 0])
    #expect(Array(sealed[end..<(end + 6)]) == [1, 2, 3, 4, 5, 6])
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
