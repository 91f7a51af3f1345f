package import ArborJSON
internal import Foundation

package enum DoubleKind: RealAttributeKind {
  package static var type: AttributeType { .double }
  package static var field: FieldKind { .double }
  package static var fingerprintCode: UInt8 { 6 }
  package static var xmlName: String { "Double" }
  package static var jsonName: String { "double" }
  package static var swiftName: String { "Double" }
  package static var documentExpectation: String { "a number of 64-bit floating-point range" }
  package static var holdsUniqueNumbers: Bool { true }

  package static func form(of value: Value) -> Value? {
    switch value {
    case .integer(let number): .double(Double(number))
    case .double: value
    default: Value?.none
    }
  }

  package static func exactly(_ value: Value) -> Value? {
    switch value {
    case .integer(let number): Double(exactly: number).map { .double($0) }
    case .decimal(let number): number.exactDouble.flatMap { exactly(.double($0)) }
    default: fitting(value)
    }
  }

  package static func restored(_ value: Value) -> Value? {
    if case .date(let date) = value { return .double(date.timeIntervalSinceReferenceDate) }
    return restoredPlainly(value)
  }

  package static func spelled(_ text: String) -> Value? {
    Double(text).flatMap { "\($0)" == text ? fitting(.double($0)) : nil }
  }

  package static func value(ofDocument number: JSONNumber) -> Value? {
    number.double.map(Value.double)
  }

  package static func unique(_ number: Int64) -> Value? { .double(Double(number)) }
}

extension DoubleKind: RealStoredKind {
  package typealias Slot = Double

  package static func slot(of value: Value) -> Slot? {
    switch value {
    case .double(let number): number.isNaN ? nil : number
    case .integer(let number): Slot(number)
    default: nil
    }
  }

  package static func value(of slot: Slot) -> Value { .double(slot) }
}
