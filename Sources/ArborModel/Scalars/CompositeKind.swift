/// Several named parts kept in one attribute.
package enum CompositeKind: AttributeKind {
  package static var type: AttributeType { .composite("") }
  package static var field: FieldKind { .tagged }
  package static var fingerprintCode: UInt8 { 14 }
  package static var xmlName: String { "Composite" }
  package static var jsonName: String { "composite" }
  package static var swiftName: String { "Value" }
  package static var expectation: String { "a value for each part" }
  package static var documentExpectation: String { "an object of its parts" }
  package static var valueKind: ValueKind { .composite }
  package static var isPlain: Bool { false }
  package static var hasXMLDefault: Bool { false }

  package static func keeps(_ value: Value) -> Bool { value.composite != nil }
}
