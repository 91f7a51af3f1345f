package import ArborJSON
internal import Foundation

package enum StringKind: AttributeKind {
  package static var type: AttributeType { .string }
  package static var field: FieldKind { .string }
  package static var fingerprintCode: UInt8 { 8 }
  package static var xmlName: String { "String" }
  package static var jsonName: String { "string" }
  package static var swiftName: String { "String" }
  package static var expectation: String { "a text" }
  package static var documentExpectation: String { "a string" }
  package static var valueKind: ValueKind { .text }
  package static var boundType: AttributeType? { .integer64 }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: Value) -> Bool { value.string != nil }

  package static func restored(_ value: Value) -> Value? {
    switch value {
    case .null, .string: value
    case .integer(let number): .string("\(number)")
    case .double(let number): .string("\(number)")
    case .decimal(let number): .string("\(number)")
    case .uuid(let id): .string(id.uuidString)
    case .uri(let url): .string(url.absoluteString)
    default: Value?.none
    }
  }

  package static func value(ofJSON text: String) -> Value? { .string(text) }
  package static func value(ofXML text: String) -> Value? { .string(text) }
  package static func value(ofDocument node: JSONNode) -> Value? { node.string.map(Value.string) }
  package static func unique(_ number: Int64) -> Value? { .string(String(number)) }
}

extension StringKind: BytesStoredKind {
  package static func key(of value: Value) -> KeyPayload? { value.string.map(KeyPayload.text) }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    .string(String(decoding: bytes, as: UTF8.self))
  }
}
