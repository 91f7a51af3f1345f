package import ArborJSON
internal import Foundation

package enum URIKind: AttributeKind {
  package static var type: AttributeType { .uri }
  package static var field: FieldKind { .uri }
  package static var fingerprintCode: UInt8 { 12 }
  package static var xmlName: String { "URI" }
  package static var jsonName: String { "uri" }
  package static var swiftName: String { "URL" }
  package static var expectation: String { "a URI" }
  package static var documentExpectation: String { "a URI as a string" }
  package static var valueKind: ValueKind { .uri }
  package static var isDocumentText: Bool { true }

  package static func keeps(_ value: Value) -> Bool { value.url != nil }

  package static func form(of value: Value) -> Value? {
    switch value {
    case .uri: value
    case .string(let text): URL(string: text).map(Value.uri)
    default: Value?.none
    }
  }

  package static func spelled(_ text: String) -> Value? {
    // What is no URI is made one by escapes.
    URL(string: text).flatMap { $0.absoluteString == text ? .uri($0) : nil }
  }

  package static func value(ofJSON text: String) -> Value? { fitting(.string(text)) }
  package static func value(ofXML text: String) -> Value? { fitting(.string(text)) }
  package static func value(ofDocument node: JSONNode) -> Value? {
    node.string.flatMap { URL(string: $0) }.map(Value.uri)
  }
}

extension URIKind: BytesStoredKind {
  package static var readAs: [FieldKind] { [.string] }

  package static func key(of value: Value) -> KeyPayload? {
    value.url.map { .text($0.absoluteString) }
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    URL(string: String(decoding: bytes, as: UTF8.self)).map(Value.uri)
  }
}
