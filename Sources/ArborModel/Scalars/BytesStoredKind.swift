/// Bytes of any length in records.
package protocol BytesStoredKind: StoredKind where Slot == UInt64 {}

extension BytesStoredKind {
  package static var form: StorageForm { .text }

  package static func value(_ field: RecordField, of record: RecordView) -> Value {
    value(ofBytes: record.bytes(field)) ?? .null
  }
}
