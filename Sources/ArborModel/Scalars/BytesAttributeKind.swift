package import ArborJSON
internal import Foundation

/// Types whose attributes keep bytes.
package protocol BytesAttributeKind: AttributeKind {}

extension BytesAttributeKind {
  package static var field: FieldKind { .binary }
  package static var swiftName: String { "Data" }
  package static var documentExpectation: String { "bytes as a base64 string" }
  package static var isPlain: Bool { false }
  package static var hasXMLDefault: Bool { false }
  package static var isDocumentText: Bool { true }

  package static func keeps(_ value: Value) -> Bool { value.data != nil }

  package static func value(ofJSON text: String) -> Value? {
    Data(base64Encoded: text).map(Value.binary)
  }

  package static func value(ofDocument node: JSONNode) -> Value? {
    node.string.flatMap { Data(base64Encoded: $0) }.map(Value.binary)
  }
}
