/// To-one relationships: their target's object number.
package enum ReferenceKind: StoredKind {
  package typealias Slot = Int64

  package static var field: FieldKind { .reference }
  package static var form: StorageForm { .reference }
  package static var valueKind: ValueKind { .object }

  package static func value(_ field: RecordField, of record: RecordView) -> Value {
    .integer(record.load(field, as: Slot.self))
  }

  package static func set(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    guard case .integer(let number) = value else { return false }
    record.store(field, number)
    return true
  }

  package static func key(of value: Value) -> KeyPayload? {
    if case .integer(let number) = value { .number(UInt64(bitPattern: number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> Value? { .integer(Int64(bitPattern: bits)) }
}
