import Testing
import ArborModel

/// The conversion of records from one layout to another by copying ranges of bytes.
@Suite struct FieldCopiesTests {
  private let key = ObjectNumber(entity: 7, sequence: 5)

  @Test(
    "Fields that both layouts share keep their values, and the others get the template's",
    arguments: 1...60 as ClosedRange<UInt64>)
  func sharedFieldsKeepTheirValues(
    seed: UInt64
  ) throws {
    var fixture = RecordFixture(
      seed: seed, fields: [1, 3, 8, 9, 20, 64][Int(seed % 6)], world: try PredicateWorld())
    let old = fixture.layout
    var kept: [Int] = []
    for index in old.fields.indices where fixture.random.chance(70) { kept.append(index) }
    if fixture.random.chance(50) { kept.append(contentsOf: [-1, -2]) }
    if fixture.random.chance(30) { kept.insert(-3, at: 0) }
    let newest = RecordLayout(
      entity: 7, number: 4,
      fields: kept.prefix(64).enumerated().map { slot, index in
        let number = UInt16(slot + 1)
        return index < 0
          ? (.string, false, number, index == -1 ? .null : "frozen")
          : (old.fields[index].kind, old.fields[index].isTransient, number, .null)
      })
    let copied = kept.prefix(64).map { $0 < 0 ? nil : old.fields[$0] }
    let copies = FieldCopies(from: old, to: newest, copied)
    for version in 1...20 as ClosedRange<UInt32> {
      var buffer = RecordBuffer(copying: old.template, into: fixture.allocator)
      for field in old.fields.indices {
        let value = fixture.random.chance(25) ? .null : fixture.value(field)
        guard !value.isNull else {
          buffer.setNull(old.fields[field])
          continue
        }
        let fits = buffer.set(old.fields[field], value, allocator: fixture.allocator)
        #expect(fits)
      }
      let bytes = fixture.sealed(buffer.view, key: key, version: version)
      try withUnalignedView(bytes) { record in
        #expect(record.verify(old, key: key) == nil)
        let copy = try #require(
          copies.record(record, over: newest.template, allocator: fixture.allocator))
        #expect(copy.version == version)
        #expect(copy.layoutNumber == 4)
        for (field, source) in zip(newest.fields, copied) {
          let frozen: PropertyValue = field.catalogNumber == 1 && kept[0] == -3 ? "frozen" : .null
          let expected =
            source.map { record.value($0) }
            ?? (kept[field.position] == -1 ? .null : kept[field.position] < 0 ? "frozen" : frozen)
          #expect(copy.value(field) == expected, "seed \(seed), field \(field.position)")
          #expect(copy.isNull(field) == expected.isNull)
        }
      }
    }
  }

  @Test("Layouts with more than 64 fields are not copied")
  func wideLayoutsAreLeftToOthers() {
    let fields = (1...65).map {
      (
        kind: FieldKind.boolean, isTransient: false, catalogNumber: UInt16($0),
        defaultValue: PropertyValue.null
      )
    }
    let layout = RecordLayout(entity: 7, number: 1, fields: fields)
    let copies = FieldCopies(from: layout, to: layout, layout.fields)
    let bytes = layout.template + [UInt8](repeating: 0, count: RecordLayout.trailerSize)
    bytes.withUnsafeBytes { raw in
      let record = RecordView(base: raw.baseAddress!, count: raw.count)
      let copy = copies.record(record, over: layout.template, allocator: SlabAllocator())
      #expect(copy == nil)
    }
  }
}
