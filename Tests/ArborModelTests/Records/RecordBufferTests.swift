import ArborModel
import Foundation
import TestLength
import Testing

/// Records that are filled in, modified and read back, compared with an array of values.
@Suite struct RecordBufferTests {
  @Test("A record contains the values that were set", arguments: 0..<12)
  func holdsWhatItWasGiven(round: Int) throws {
    let seed = UInt64(900 + round)
    var fixture = RecordFixture(
      seed: seed, fields: [0, 1, 7, 8, 9, 40][round % 6], world: try PredicateWorld())
    let layout = fixture.layout
    var record = RecordBuffer(copying: layout.template, into: fixture.allocator)
    var expected = layout.fields.map { record.view.value($0) }
    for _ in 0..<(layout.fields.isEmpty ? 0 : 120) {
      let index = Int.random(in: 0..<layout.fields.count, using: &fixture.random.random)
      let value = fixture.value(index)
      if record.set(layout.fields[index], value, allocator: fixture.allocator) {
        expected[index] = value
      }
      for (field, value) in zip(layout.fields, expected) {
        #expect(record.view.isNull(field) == value.isNull, "seed \(seed)")
        #expect(PropertyValue.compare(record.view.value(field), value) == .equal, "seed \(seed)")
      }
    }
    #expect(record.view.version == 0)
    #expect(record.view.layoutNumber == 3)
    record.setVersion(9)
    #expect(record.view.version == 9)
  }

  @Test("Values of any length replace each other, and the record has no other bytes")
  func lengthsChange() {
    let layout = RecordLayout(
      entity: 1, number: 1,
      fields: (1...5).map {
        (
          kind: $0 == 3 ? .int32 : FieldKind.binary, isTransient: false,
          catalogNumber: UInt16($0), defaultValue: .null
        )
      })
    for seed in 0..<UInt64(TestLength.of(50, long: 5_000)) {
      var random = SplitMix(seed: seed)
      let allocator = SlabAllocator(slabSize: 512, keepsSlabs: true)
      var record = RecordBuffer(copying: layout.template, into: allocator)
      var expected = [[UInt8]?](repeating: nil, count: 5)
      for _ in 0..<60 {
        let index = Int.random(in: 0..<5, using: &random)
        let length = Int.random(in: 0...(Bool.random(using: &random) ? 9 : 700), using: &random)
        let field = layout.fields[index]
        if Int.random(in: 0..<4, using: &random) == 0 {
          record.setNull(field)
          expected[index] = nil
        } else if index == 2 {
          record.store(field, Int32(length))
          expected[2] = [UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
        } else {
          let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
          bytes.withUnsafeBytes { record.store(field, bytes: $0, allocator: allocator) }
          expected[index] = bytes
        }
        var size = layout.fixedEnd
        for (field, value) in zip(layout.fields, expected) {
          #expect(record.view.isNull(field) == (value == nil), "seed \(seed)")
          guard field.kind.isVariable else {
            let number = (value ?? [0, 0]).reversed().reduce(0 as Int32) { $0 << 8 | Int32($1) }
            #expect(record.view.load(field, as: Int32.self) == number, "seed \(seed)")
            continue
          }
          #expect(Array(record.view.bytes(field)) == value ?? [], "seed \(seed)")
          size += value?.count ?? 0
        }
        #expect(record.view.contentSize(layout) == size, "seed \(seed)")
        #expect(record.count == size, "seed \(seed)")
      }
    }
  }

  @Test("Default values are part of the template")
  func defaultsAreInTheTemplate() {
    let layout = RecordLayout(
      entity: 1, number: 1,
      fields: [
        (kind: .int16, isTransient: false, catalogNumber: 1, defaultValue: 18),
        (kind: .string, isTransient: false, catalogNumber: 2, defaultValue: "é"),
        (kind: .string, isTransient: false, catalogNumber: 3, defaultValue: ""),
        (kind: .reference, isTransient: false, catalogNumber: 4, defaultValue: .null),
      ])
    let record = RecordBuffer(copying: layout.template, into: SlabAllocator())
    #expect(layout.fields.map { record.view.value($0) } == [18, "é", "", .null])
    #expect(record.view.reference(layout.fields[3]) == nil)
    #expect(!record.view.isNull(layout.fields[2]))
  }

  @Test("Values that don't fit a field leave the record unchanged")
  func valuesThatDoNotFitChangeNothing() throws {
    let world = try PredicateWorld()
    let cases: [(String, [PropertyValue])] = [
      ("short", [40_000, -40_000, 1.5, "1", true]), ("medium", [3_000_000_000, .decimal(1)]),
      ("long", [1.0, "x"]), ("flag", [1, "TRUE"]), ("single", [1e300, .double(.nan), "x"]),
      ("ratio", [.double(.nan), .decimal(1)]), ("price", [.decimal(.nan), 1.5]), ("name", [1]),
      ("born", [5, .date(Date(timeIntervalSinceReferenceDate: .nan))]), ("photo", ["x"]),
      ("key", ["x"]), ("home", ["x"]),
      ("extra", [[.decimal(.nan)], (0..<200).reduce(.null) { value, _ in .list([value]) }]),
    ]
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: world.person.layout.template, into: allocator)
    let before = Array(record.view.bytes)
    for (name, values) in cases {
      let attribute = try #require(world.person.attributes.first { $0.name == name })
      for value in values {
        let wasSet = record.set(attribute.field, value, allocator: allocator)
        #expect(!wasSet, "\(name) \(value)")
        #expect(Array(record.view.bytes) == before, "\(name) \(value)")
      }
    }
  }

  @Test("A record that outgrows its slab is moved and keeps its contents")
  func growsBeyondASlab() {
    let layout = RecordLayout(
      entity: 1, number: 1,
      fields: [
        (kind: .string, isTransient: false, catalogNumber: 1, defaultValue: "a"),
        (kind: .binary, isTransient: false, catalogNumber: 2, defaultValue: .null),
      ])
    let allocator = SlabAllocator(slabSize: 256)
    var record = RecordBuffer(copying: layout.template, into: allocator)
    var length = 1
    while length < 100_000 {
      length *= 3
      let text = String(repeating: "é", count: length)
      _ = record.set(layout.fields[0], .string(text), allocator: allocator)
      #expect(record.view.string(layout.fields[0]) == text)
    }
    _ = record.set(layout.fields[0], "b", allocator: allocator)
    #expect(record.view.string(layout.fields[0]) == "b")
    #expect(record.view.isNull(layout.fields[1]))
  }
}
