internal import Foundation

package enum BinaryKind: BytesAttributeKind {
  package static var type: AttributeType { .binary }
  package static var fingerprintCode: UInt8 { 10 }
  package static var xmlName: String { "Binary" }
  package static var jsonName: String { "binary" }
  package static var expectation: String { "bytes" }
  package static var valueKind: ValueKind { .binary }
}

extension BinaryKind: BytesStoredKind {
  package static func value(_ field: RecordField, of record: RecordView) -> Value {
    guard field.isExternal else { return .binary(Data(record.bytes(field))) }
    // Code that needs the value of a reference loads it; see value(_:of:from:).
    guard case .value(let bytes) = record.content(field) else { return .null }
    return .binary(Data(bytes))
  }

  package static func key(of value: Value) -> KeyPayload? { value.data.map(KeyPayload.binary) }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    .binary(Data(bytes))
  }
}
