/// Whole numbers of some width in records.
package protocol WholeStoredKind: StoredKind
where Slot: FixedWidthInteger & SignedInteger & BitwiseCopyable {}

extension WholeStoredKind {
  package static var form: StorageForm { .whole }

  package static func value(_ field: RecordField, of record: RecordView) -> Value {
    .integer(Int64(record.load(field, as: Slot.self)))
  }

  package static func set(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    guard case .integer(let number) = value, let narrow = Slot(exactly: number) else {
      return false
    }
    record.store(field, narrow)
    return true
  }

  package static func key(of value: Value) -> KeyPayload? {
    if case .integer(let number) = value { .number(KeyBits.of(number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> Value? {
    .integer(Int64(bitPattern: bits ^ (1 << 63)))
  }

  package static func value(ofWhole number: Int64) -> Value { .integer(number) }
}
