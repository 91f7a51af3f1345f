package enum Int32Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int32

  package static var type: AttributeType { .integer32 }
  package static var field: FieldKind { .int32 }
  package static var fingerprintCode: UInt8 { 2 }
  package static var xmlName: String { "Integer 32" }
  package static var jsonName: String { "integer32" }
  package static var swiftName: String { "Int32" }
  package static var expectation: String { "a whole number from -2147483648 to 2147483647" }
  package static var documentExpectation: String { "a whole number of 32 bits" }
  package static var wider: [FieldKind] { [.int64, .double, .decimal] }
}
