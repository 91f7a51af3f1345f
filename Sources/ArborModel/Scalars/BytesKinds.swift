internal import ArborFoundation
package import ArborJSON

/// An attribute type whose values are stored as bytes.
package protocol BytesAttributeKind: AttributeKind {}

extension BytesAttributeKind {
  package static var field: FieldKind { .binary }
  package static var swiftName: String { "Data" }
  package static var documentExpectation: String { "bytes as a base64 string" }
  package static var isPlain: Bool { false }
  package static var hasXMLDefault: Bool { false }
  package static var isDocumentText: Bool { true }

  package static func keeps(_ value: PropertyValue) -> Bool { value.data != nil }

  package static func value(ofJSON text: String) -> PropertyValue? {
    Data(base64Encoded: text).map(PropertyValue.binary)
  }

  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.string.flatMap { Data(base64Encoded: $0) }.map(PropertyValue.binary)
  }
}

/// A kind that is stored in records as bytes of any length.
package protocol BytesStoredKind: StoredKind where Slot == UInt32 {}

extension BytesStoredKind {
  package static var form: StorageForm { .text }

  package static func value(_ field: RecordField, of record: RecordView) -> PropertyValue {
    value(ofBytes: record.bytes(field)) ?? .null
  }

  package static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool {
    store(field, value, in: &record, allocator)
  }

  /// Writes the payload of a value's key. Returns `false` if the value has no key of this kind.
  static func store(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool {
    switch key(of: value) {
    case .text(let text): record.store(field, text, allocator: allocator)
    case .decimal(let bytes):
      bytes.withUnsafeBytes { record.store(field, bytes: $0, allocator: allocator) }
    case .binary(let data):
      data.withUnsafeBytes { bytes in
        if field.isExternal {
          record.store(external: field, bytes: bytes, allocator: allocator)
        } else {
          record.store(field, bytes: bytes, allocator: allocator)
        }
      }
    case .number, .flag, .identifier, nil: return false
    }
    return true
  }
}

package enum StringKind: AttributeKind {
  package static var type: AttributeType { .string }
  package static var field: FieldKind { .string }
  package static var fingerprintCode: UInt8 { 8 }
  package static var xmlName: String { "String" }
  package static var jsonName: String { "string" }
  package static var swiftName: String { "String" }
  package static var expectation: String { "a string" }
  package static var documentExpectation: String { "a string" }
  package static var valueKind: ValueKind { .text }
  package static var boundType: AttributeType? { .integer64 }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: PropertyValue) -> Bool { value.string != nil }

  package static func restored(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .null, .string: value
    case .integer(let number): .string("\(number)")
    case .double(let number): .string("\(number)")
    case .decimal(let number): .string("\(number)")
    case .uuid(let id): .string(id.uuidString)
    case .uri(let url): .string(url.absoluteString)
    default: PropertyValue?.none
    }
  }

  package static func value(ofJSON text: String) -> PropertyValue? { .string(text) }
  package static func value(ofXML text: String) -> PropertyValue? { .string(text) }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.string.map(PropertyValue.string)
  }
  package static func unique(_ number: Int64) -> PropertyValue? { .string(String(number)) }
}

extension StringKind: BytesStoredKind {
  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.string.map(KeyPayload.text)
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    .string(String(decoding: bytes, as: UTF8.self))
  }
}

package enum BinaryKind: BytesAttributeKind {
  package static var type: AttributeType { .binary }
  package static var fingerprintCode: UInt8 { 10 }
  package static var xmlName: String { "Binary" }
  package static var jsonName: String { "binary" }
  package static var expectation: String { "bytes" }
  package static var valueKind: ValueKind { .binary }
}

extension BinaryKind: BytesStoredKind {
  package static func value(_ field: RecordField, of record: RecordView) -> PropertyValue {
    guard field.isExternal else { return .binary(Data(record.bytes(field))) }
    // If the field contains a reference, its value must be loaded; see `value(_:of:from:)`.
    guard case .value(let bytes) = record.content(field) else { return .null }
    return .binary(Data(bytes))
  }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.data.map(KeyPayload.binary)
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    .binary(Data(bytes))
  }
}

/// The kind of values that a registered transformer converts to bytes.
package enum TransformableKind: BytesAttributeKind {
  package static var type: AttributeType { .transformable("") }
  package static var fingerprintCode: UInt8 { 13 }
  package static var xmlName: String { "Transformable" }
  package static var jsonName: String { "transformable" }
  package static var expectation: String { "the bytes of an archived value" }
  package static var valueKind: ValueKind { .any }
}

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

  package static func keeps(_ value: PropertyValue) -> Bool { value.url != nil }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    switch value {
    case .uri: value
    case .string(let text): URL(string: text).map(PropertyValue.uri)
    default: PropertyValue?.none
    }
  }

  package static func spelled(_ text: String) -> PropertyValue? {
    // `URL` percent-escapes an invalid string, which then no longer equals the text.
    URL(string: text).flatMap { $0.absoluteString == text ? .uri($0) : nil }
  }

  package static func value(ofJSON text: String) -> PropertyValue? { fitting(.string(text)) }
  package static func value(ofXML text: String) -> PropertyValue? { fitting(.string(text)) }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.string.flatMap { URL(string: $0) }.map(PropertyValue.uri)
  }
}

extension URIKind: BytesStoredKind {
  package static var readAs: [FieldKind] { [.string] }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.url.map { .text($0.absoluteString) }
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    URL(string: String(decoding: bytes, as: UTF8.self)).map(PropertyValue.uri)
  }
}
