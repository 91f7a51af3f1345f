internal import Foundation

/// Bytes of any length in records.
package protocol BytesStoredKind: StoredKind where Slot == UInt64 {}

extension BytesStoredKind {
  package static var form: StorageForm { .text }

  package static func value(_ field: RecordField, of record: RecordView) -> Value {
    value(ofBytes: record.bytes(field)) ?? .null
  }

  package static func set(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    store(field, value, in: &record, allocator)
  }

  /// Writes the bytes that a value adds to a key, where it does.
  static func store(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    switch key(of: value) {
    case .text(let text): record.store(field, text, allocator: allocator)
    case .decimal(let bytes):
      bytes.withUnsafeBytes { record.store(field, bytes: $0, allocator: allocator) }
    case .binary(let data):
      data.withUnsafeBytes { bytes in
        if field.isExternal {
          record.store(external: field, bytes: bytes, allocator: allocator)
        } else {
          record.store(field, bytes: bytes, allocator: allocator)
        }
      }
    case .number, .flag, .identifier, nil: return false
    }
    return true
  }
}
