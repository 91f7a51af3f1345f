import ArborModel
import Foundation
import Testing

@Suite struct RecordComparisonTests {
  @Test("Fields of every kind are compared")
  func fieldsOfEveryKindAreCompared() throws {
    let samples: [FieldKind: [PropertyValue]] = [
      .boolean: [true, false, .null], .int16: [1, -1, .null], .int32: [1, 70_000],
      .int64: [1, .integer(.max)], .float: [1, 1.5], .double: [1, 1.25, .null],
      .date: [.date(.init(timeIntervalSinceReferenceDate: 1)), .null],
      .uuid: [.uuid(.init()), .uuid(.init()), .null], .reference: [7, 8, .null],
      .string: ["a", "b", "", "ab", .null], .binary: [.binary(.init([1])), .binary(.init())],
      .decimal: [.decimal(1), .decimal(2)], .tagged: [.list([1]), 1],
    ]
    let allocator = SlabAllocator()
    for (kind, values) in samples {
      let layout = RecordLayout(
        entity: 1, number: 1,
        fields: [
          (kind: .string, isTransient: false, catalogNumber: 1, defaultValue: "before"),
          (kind: kind, isTransient: false, catalogNumber: 2, defaultValue: .null),
        ])
      let records = values.map { value in
        var buffer = RecordBuffer(copying: layout.template, into: allocator)
        let fits = buffer.set(layout.fields[1], value, allocator: allocator)
        #expect(fits, "\(kind)")
        return buffer
      }
      for (left, one) in zip(values, records) {
        for (right, other) in zip(values, records) {
          #expect(
            one.view.differs(from: other.view, layout.fields[1]) == (left != right),
            "\(kind): \(left) and \(right)")
        }
      }
    }
  }
}
