internal import ArborFoundation
package import ArborJSON

/// An attribute type whose values are integers with a fixed width.
package protocol WholeAttributeKind: AttributeKind {
  associatedtype Slot: FixedWidthInteger & SignedInteger
}

extension WholeAttributeKind {
  package static var valueKind: ValueKind { .number }
  package static var isNumber: Bool { true }
  package static var boundType: AttributeType? { type }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: PropertyValue) -> Bool {
    if case .integer = value { true } else { false }
  }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    guard case .integer(let number) = value, Slot(exactly: number) != nil else {
      return PropertyValue?.none
    }
    return value
  }

  package static func exactly(_ value: PropertyValue) -> PropertyValue? {
    guard let number = value.int64 else { return fitting(value) }
    return fitting(.integer(number))
  }

  package static func restored(_ value: PropertyValue) -> PropertyValue? {
    if case .boolean(let flag) = value { return .integer(flag ? 1 : 0) }
    return restoredPlainly(value)
  }

  package static func spelled(_ text: String) -> PropertyValue? {
    Int64(text).flatMap { "\($0)" == text ? fitting(.integer($0)) : nil }
  }

  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    number.int64.flatMap { fitting(.integer($0)) }
  }

  package static func value(ofXML text: String) -> PropertyValue? {
    // Some editors have written integers as 0.0.
    JSONNumber(text: text)?.int64.flatMap { fitting(.integer($0)) }
  }

  package static func value(ofFormerXML text: String) -> PropertyValue? {
    if let flag = Bool(modelText: text) { return .integer(flag ? 1 : 0) }
    guard let number = JSONNumber(text: text)?.double else { return PropertyValue?.none }
    return Int64(exactly: number.rounded(.towardZero)).flatMap { fitting(.integer($0)) }
  }

  package static func value(ofDocument number: JSONNumber) -> PropertyValue? {
    number.int64.flatMap { fitting(.integer($0)) }
  }

  package static func unique(_ number: Int64) -> PropertyValue? { fitting(.integer(number)) }
}

/// An integer kind that is stored in records with a fixed width.
package protocol WholeStoredKind: FixedStoredKind
where Slot: FixedWidthInteger & SignedInteger & BitwiseCopyable {}

extension WholeStoredKind {
  package static var form: StorageForm { .whole }

  package static func slot(of value: PropertyValue) -> Slot? {
    if case .integer(let number) = value { Slot(exactly: number) } else { nil }
  }

  package static func value(of slot: Slot) -> PropertyValue { .integer(Int64(slot)) }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    if case .integer(let number) = value { .number(KeyBits.of(number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> PropertyValue? {
    .integer(Int64(bitPattern: bits ^ (1 << 63)))
  }

  package static func value(ofWhole number: Int64) -> PropertyValue { .integer(number) }
}

package enum Int16Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int16

  package static var type: AttributeType { .integer16 }
  package static var field: FieldKind { .int16 }
  package static var fingerprintCode: UInt8 { 1 }
  package static var xmlName: String { "Integer 16" }
  package static var jsonName: String { "integer16" }
  package static var swiftName: String { "Int16" }
  package static var expectation: String { "an integer from -32768 to 32767" }
  package static var wider: [FieldKind] { [.int32, .int64, .float, .double, .decimal] }
}

package enum Int32Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int32

  package static var type: AttributeType { .integer32 }
  package static var field: FieldKind { .int32 }
  package static var fingerprintCode: UInt8 { 2 }
  package static var xmlName: String { "Integer 32" }
  package static var jsonName: String { "integer32" }
  package static var swiftName: String { "Int32" }
  package static var expectation: String { "an integer from -2147483648 to 2147483647" }
  package static var wider: [FieldKind] { [.int64, .double, .decimal] }
}

package enum Int64Kind: WholeAttributeKind, WholeStoredKind {
  package typealias Slot = Int64

  package static var type: AttributeType { .integer64 }
  package static var field: FieldKind { .int64 }
  package static var fingerprintCode: UInt8 { 3 }
  package static var xmlName: String { "Integer 64" }
  package static var jsonName: String { "integer64" }
  package static var swiftName: String { "Int64" }
  package static var expectation: String {
    "an integer from -9223372036854775808 to 9223372036854775807"
  }
  package static var wider: [FieldKind] { [.decimal] }
}

/// The kind of Booleans, which are stored as a byte.
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

  package static func keeps(_ value: PropertyValue) -> Bool { value.bool != nil }

  package static func restored(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .integer(0): .boolean(false)
    case .integer(1): .boolean(true)
    default: restoredPlainly(value)
    }
  }

  package static func value(ofXML text: String) -> PropertyValue? {
    Bool(modelText: text).map(PropertyValue.boolean)
  }

  package static func value(ofFormerXML text: String) -> PropertyValue? {
    JSONNumber(text: text)?.double.map { .boolean($0 != 0) }
  }

  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.bool.map(PropertyValue.boolean)
  }
}

extension BooleanKind: FixedStoredKind {
  package typealias Slot = Int8

  package static var form: StorageForm { .flag }
  package static var readAs: [FieldKind] { [.int16, .int32, .int64] }

  package static func slot(of value: PropertyValue) -> Slot? { value.bool.map { $0 ? 1 : 0 } }
  package static func value(of slot: Slot) -> PropertyValue { .boolean(slot != 0) }
  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.bool.map(KeyPayload.flag)
  }
  package static func value(ofWhole number: Int64) -> PropertyValue { .boolean(number != 0) }
}

extension Bool {
  /// Creates the Boolean for a string in a model's XML. Returns `nil` for any other string.
  package init?(modelText text: String) {
    switch text.lowercased() {
    case "yes", "true", "1": self = true
    case "no", "false", "0": self = false
    default: return nil
    }
  }
}
