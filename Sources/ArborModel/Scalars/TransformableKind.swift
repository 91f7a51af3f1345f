/// Values that a registered transformer turns into bytes.
package enum TransformableKind: BytesAttributeKind {
  package static var type: AttributeType { .transformable("") }
  package static var fingerprintCode: UInt8 { 13 }
  package static var xmlName: String { "Transformable" }
  package static var jsonName: String { "transformable" }
  package static var expectation: String { "the bytes of an archived value" }
  package static var valueKind: ValueKind { .any }
}
