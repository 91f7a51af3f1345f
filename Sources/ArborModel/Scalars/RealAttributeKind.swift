package import ArborJSON

package protocol RealAttributeKind: AttributeKind {}

extension RealAttributeKind {
  package static var expectation: String { "a number" }
  package static var valueKind: ValueKind { .number }
  package static var isNumber: Bool { true }
  package static var boundType: AttributeType? { type }

  package static func keeps(_ value: Value) -> Bool {
    switch value {
    case .double, .integer: true
    default: false
    }
  }

  package static func value(ofJSON number: JSONNumber) -> Value? {
    number.double.flatMap { fitting(.double($0)) }
  }

  package static func value(ofJSON text: String) -> Value? {
    text.hasSuffix("inf") ? Double(text).flatMap { fitting(.double($0)) } : nil
  }

  package static func value(ofXML text: String) -> Value? {
    Double(text).flatMap { fitting(.double($0)) }
  }

  package static func value(ofFormerXML text: String) -> Value? {
    Bool(modelText: text).flatMap { fitting(.integer($0 ? 1 : 0)) }
  }
}
