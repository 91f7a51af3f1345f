package import ArborJSON

/// Booleans.
package enum BooleanKind: AttributeKind {
  package static var type: AttributeType { .boolean }
  package static var field: FieldKind { .boolean }
  package static var fingerprintCode: UInt8 { 4 }
  package static var xmlName: String { "Boolean" }
  package static var jsonName: String { "boolean" }
  package static var swiftName: String { "Bool" }
  package static var expectation: String { "YES or NO" }
  package static var documentExpectation: String { "true or false" }
  package static var valueKind: ValueKind { .number }

  package static func keeps(_ value: Value) -> Bool {
    if case .boolean = value { true } else { false }
  }

  package static func restored(_ value: Value) -> Value? {
    switch value {
    case .integer(0): .boolean(false)
    case .integer(1): .boolean(true)
    default: restoredPlainly(value)
    }
  }

  package static func value(ofXML text: String) -> Value? {
    Bool(modelText: text).map(Value.boolean)
  }

  package static func value(ofFormerXML text: String) -> Value? {
    JSONNumber(text: text)?.double.map { .boolean($0 != 0) }
  }

  package static func value(ofDocument node: JSONNode) -> Value? { node.bool.map(Value.boolean) }
}
