package enum Int16Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int16

  package static var type: AttributeType { .integer16 }
  package static var field: FieldKind { .int16 }
  package static var fingerprintCode: UInt8 { 1 }
  package static var xmlName: String { "Integer 16" }
  package static var jsonName: String { "integer16" }
  package static var swiftName: String { "Int16" }
  package static var expectation: String { "a whole number from -32768 to 32767" }
  package static var documentExpectation: String { "a whole number of 16 bits" }
  package static var wider: [FieldKind] { [.int32, .int64, .float, .double, .decimal] }
}
