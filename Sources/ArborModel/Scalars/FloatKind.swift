package import ArborJSON
internal import Foundation

package enum FloatKind: RealAttributeKind {
  package static var type: AttributeType { .float }
  package static var field: FieldKind { .float }
  package static var fingerprintCode: UInt8 { 5 }
  package static var xmlName: String { "Float" }
  package static var jsonName: String { "float" }
  package static var swiftName: String { "Float" }
  package static var documentExpectation: String { "a number of 32-bit floating-point range" }
  package static var wider: [FieldKind] { [.double] }

  package static func form(of value: Value) -> Value? {
    switch value {
    case .integer(let number): return .double(Double(Float(number)))
    case .double(let number):
      let rounded = Float(number)
      guard rounded.isFinite || number.isInfinite else { return Value?.none }
      return .double(Double(rounded))
    default: return Value?.none
    }
  }

  package static func exactly(_ value: Value) -> Value? {
    switch value {
    case .double(let number): return Double(Float(number)) == number ? .double(number) : Value?.none
    case .integer(let number): return Float(exactly: number).map { .double(Double($0)) }
    case .decimal(let number): return number.exactDouble.flatMap { exactly(.double($0)) }
    default: return fitting(value)
    }
  }

  package static func spelled(_ text: String) -> Value? {
    Float(text).flatMap { "\($0)" == text ? fitting(.double(Double($0))) : nil }
  }

  package static func value(ofDocument number: JSONNumber) -> Value? {
    number.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
  }
}

extension FloatKind: RealStoredKind {
  package typealias Slot = Float

  package static func slot(of value: Value) -> Slot? {
    switch value {
    case .double(let number): Slot(number).isFinite || number.isInfinite ? Slot(number) : nil
    case .integer(let number): Slot(number)
    default: nil
    }
  }

  package static func value(of slot: Slot) -> Value { .double(Double(slot)) }
}
