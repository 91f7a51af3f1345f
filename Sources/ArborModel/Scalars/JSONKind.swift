internal import ArborFoundation
package import ArborJSON

/// The kind of JSON values, such as those of `Codable` types. Records store their canonical text,
/// so equal values have equal bytes.
package enum JSONKind: AttributeKind {
  package static var type: AttributeType { .json }
  package static var field: FieldKind { .json }
  package static var fingerprintCode: UInt8 { 16 }
  /// XML model files mark JSON attributes in another way.
  package static var xmlName: String { "Binary" }
  package static var jsonName: String { "json" }
  package static var swiftName: String { "PropertyValue" }
  package static var expectation: String { "a value that JSON can represent" }
  package static var documentExpectation: String { "any JSON value" }
  package static var valueKind: ValueKind { .any }
  package static var isPlain: Bool { false }
  package static var hasXMLDefault: Bool { false }

  package static func keeps(_ value: PropertyValue) -> Bool { value.json != nil }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    value.json.flatMap(PropertyValue.init(json:))
  }

  package static func spelled(_ text: String) -> PropertyValue? { .string(text) }
  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    PropertyValue(json: .number(number))
  }
  package static func value(ofJSON text: String) -> PropertyValue? { .string(text) }
  package static func value(ofXML text: String) -> PropertyValue? {
    (try? JSONValue.parse(Data(text.utf8))).flatMap(PropertyValue.init(json:))
  }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    PropertyValue(json: node.value)
  }
}

extension JSONKind {
  /// Returns whether bytes are the canonical text of a value other than null.
  package static func isCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let json = try? JSONValue.parse(Data(bytes)), !json.isNull,
      PropertyValue(json: json) != nil
    else { return false }
    return json.canonicalBytes.elementsEqual(bytes)
  }
}

extension JSONKind: BytesStoredKind {
  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.json.map { .binary(Data($0.canonicalBytes)) }
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    (try? JSONValue.parse(Data(bytes))).flatMap(PropertyValue.init(json:))
  }
}
