package import ArborJSON
internal import Foundation

package protocol WholeAttributeKind: AttributeKind {
  associatedtype Slot: FixedWidthInteger & SignedInteger
}

extension WholeAttributeKind {
  package static var valueKind: ValueKind { .number }
  package static var isNumber: Bool { true }
  package static var boundType: AttributeType? { type }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: Value) -> Bool {
    if case .integer = value { true } else { false }
  }

  package static func form(of value: Value) -> Value? {
    guard case .integer(let number) = value, Slot(exactly: number) != nil else {
      return Value?.none
    }
    return value
  }

  package static func exactly(_ value: Value) -> Value? {
    guard let number = value.int64 else { return fitting(value) }
    return fitting(.integer(number))
  }

  package static func restored(_ value: Value) -> Value? {
    if case .boolean(let flag) = value { return .integer(flag ? 1 : 0) }
    return restoredPlainly(value)
  }

  package static func spelled(_ text: String) -> Value? {
    Int64(text).flatMap { "\($0)" == text ? fitting(.integer($0)) : nil }
  }

  package static func value(ofJSON number: JSONNumber) -> Value? {
    number.int64.flatMap { fitting(.integer($0)) }
  }

  package static func value(ofXML text: String) -> Value? {
    // Editors have written whole numbers as 0.0.
    JSONNumber(text: text)?.int64.flatMap { fitting(.integer($0)) }
  }

  package static func value(ofFormerXML text: String) -> Value? {
    if let flag = Bool(modelText: text) { return .integer(flag ? 1 : 0) }
    guard let number = JSONNumber(text: text)?.double else { return Value?.none }
    return Int64(exactly: number.rounded(.towardZero)).flatMap { fitting(.integer($0)) }
  }

  package static func value(ofDocument number: JSONNumber) -> Value? {
    number.int64.flatMap { fitting(.integer($0)) }
  }

  package static func unique(_ number: Int64) -> Value? { fitting(.integer(number)) }
}
