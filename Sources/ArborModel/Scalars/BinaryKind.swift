/// Bytes of any length.
package enum BinaryKind: BytesAttributeKind {
  package static var type: AttributeType { .binary }
  package static var fingerprintCode: UInt8 { 10 }
  package static var xmlName: String { "Binary" }
  package static var jsonName: String { "binary" }
  package static var expectation: String { "bytes" }
  package static var valueKind: ValueKind { .binary }
}
