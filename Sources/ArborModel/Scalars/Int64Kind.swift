package enum Int64Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int64

  package static var type: AttributeType { .integer64 }
  package static var field: FieldKind { .int64 }
  package static var fingerprintCode: UInt8 { 3 }
  package static var xmlName: String { "Integer 64" }
  package static var jsonName: String { "integer64" }
  package static var swiftName: String { "Int64" }
  package static var expectation: String { "a whole number of 64 bits" }
  package static var wider: [FieldKind] { [.decimal] }
}
