package import ArborJSON

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

  package static func keeps(_ value: Value) -> Bool { value.bool != nil }

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

extension BooleanKind: FixedStoredKind {
  package typealias Slot = Int8

  package static var form: StorageForm { .flag }
  package static var readAs: [FieldKind] { [.int16, .int32, .int64] }

  package static func slot(of value: Value) -> Slot? { value.bool.map { $0 ? 1 : 0 } }
  package static func value(of slot: Slot) -> Value { .boolean(slot != 0) }
  package static func key(of value: Value) -> KeyPayload? { value.bool.map(KeyPayload.flag) }
  package static func value(ofWhole number: Int64) -> Value { .boolean(number != 0) }
}
