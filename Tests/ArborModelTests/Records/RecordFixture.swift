import ArborModel
import Foundation

/// Random records of all kinds of fields, with their expected values.
struct RecordFixture {
  static let kinds: [(kind: FieldKind, type: AttributeType)] = [
    (.boolean, .boolean), (.int16, .integer16), (.int32, .integer32), (.int64, .integer64),
    (.float, .float), (.double, .double), (.date, .date), (.uuid, .uuid), (.string, .string),
    (.binary, .binary), (.decimal, .decimal), (.uri, .uri), (.tagged, .undefined),
  ]

  let layout: RecordLayout
  let types: [AttributeType]
  let allocator = SlabAllocator()
  var random: RandomPredicates

  /// Creates a layout of random fields, some of them transient.
  init(seed: UInt64, fields: Int, world: PredicateWorld) {
    var random = RandomPredicates(seed: seed, world: world)
    var types: [AttributeType] = []
    var specifications:
      [(kind: FieldKind, isTransient: Bool, catalogNumber: UInt16, defaultValue: PropertyValue)] =
        []
    for number in 0..<fields {
      let (kind, type) = random.pick(Self.kinds)
      types.append(type)
      specifications.append(
        (
          kind: kind, isTransient: random.chance(15), catalogNumber: UInt16(number + 1),
          defaultValue: random.chance(50) ? .null : random.value(for: type)
        ))
    }
    self.random = random
    self.types = types
    layout = RecordLayout(entity: 7, number: 3, fields: specifications)
  }

  mutating func value(_ index: Int) -> PropertyValue { random.value(for: types[index]) }

  /// Returns the stored form of a record.
  func sealed(
    _ view: RecordView, key: ObjectNumber, version: UInt32, commit: UInt64 = 0
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: view.sealedSize(layout))
    bytes.withUnsafeMutableBytes {
      view.seal(into: $0, layout: layout, key: key, version: version, commit: commit)
    }
    return bytes
  }
}

/// Calls `body` with a view of bytes at an unaligned address, as LMDB may return them.
func withUnalignedView<Result>(
  _ bytes: [UInt8], _ body: (RecordView) throws -> Result
) rethrows -> Result {
  try ([0xEE] + bytes).withUnsafeBytes { raw in
    try body(RecordView(base: raw.baseAddress! + 1, count: bytes.count))
  }
}
