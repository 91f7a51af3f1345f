package import ArborFoundation
package import ArborJSON

package enum UUIDKind: AttributeKind {
  package static var type: AttributeType { .uuid }
  package static var field: FieldKind { .uuid }
  package static var fingerprintCode: UInt8 { 11 }
  package static var xmlName: String { "UUID" }
  package static var jsonName: String { "uuid" }
  package static var swiftName: String { "UUID" }
  package static var expectation: String { "a UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8" }
  package static var documentExpectation: String { "a UUID as a string" }
  package static var valueKind: ValueKind { .uuid }
  package static var isDocumentText: Bool { true }

  package static func keeps(_ value: PropertyValue) -> Bool { value.uuid != nil }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    switch value {
    case .uuid: value
    case .string(let text): UUID(uuidString: text).map(PropertyValue.uuid)
    default: PropertyValue?.none
    }
  }

  package static func value(ofJSON text: String) -> PropertyValue? { fitting(.string(text)) }
  package static func value(ofXML text: String) -> PropertyValue? { fitting(.string(text)) }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.string.flatMap(UUID.init(uuidString:)).map(PropertyValue.uuid)
  }
}

extension UUIDKind: FixedStoredKind {
  package typealias Slot = uuid_t

  package static var form: StorageForm { .identifier }
  package static var readAs: [FieldKind] { [.string] }

  package static func slot(of value: PropertyValue) -> Slot? { value.uuid?.uuid }
  package static func value(of slot: Slot) -> PropertyValue { .uuid(UUID(uuid: slot)) }
  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.uuid.map(KeyPayload.identifier)
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    value(of: bytes.loadUnaligned(as: Slot.self))
  }
}

/// The kind of to-one relationships, which are stored as the target's object number.
package enum ReferenceKind: FixedStoredKind {
  package typealias Slot = Int64

  package static var field: FieldKind { .reference }
  package static var form: StorageForm { .reference }
  package static var valueKind: ValueKind { .object }

  package static func slot(of value: PropertyValue) -> Slot? {
    if case .integer(let number) = value { number } else { nil }
  }

  package static func value(of slot: Slot) -> PropertyValue { .integer(slot) }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    if case .integer(let number) = value { .number(UInt64(bitPattern: number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> PropertyValue? {
    .integer(Int64(bitPattern: bits))
  }
}

/// The kind of composites: named parts that are stored in one attribute.
package enum CompositeKind: AttributeKind {
  package static var type: AttributeType { .composite("") }
  package static var field: FieldKind { .tagged }
  package static var fingerprintCode: UInt8 { 14 }
  package static var xmlName: String { "Composite" }
  package static var jsonName: String { "composite" }
  package static var swiftName: String { "PropertyValue" }
  package static var expectation: String { "a value for every part" }
  package static var documentExpectation: String {
    "an object with the parts of the composite type"
  }
  package static var valueKind: ValueKind { .composite }
  package static var isPlain: Bool { false }
  package static var hasXMLDefault: Bool { false }

  package static func keeps(_ value: PropertyValue) -> Bool { value.composite != nil }
}

/// The kind of attributes without a type, whose values are stored with their type.
package enum UndefinedKind: AttributeKind {
  package static var type: AttributeType { .undefined }
  package static var field: FieldKind { .tagged }
  package static var fingerprintCode: UInt8 { 15 }
  package static var xmlName: String { "Undefined" }
  package static var jsonName: String { "undefined" }
  package static var swiftName: String { "PropertyValue" }
  package static var expectation: String { "a string, a number or a Boolean" }
  package static var documentExpectation: String { "a Boolean, a number or a string" }
  package static var valueKind: ValueKind { .any }
  package static var isPlain: Bool { false }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: PropertyValue) -> Bool { true }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    switch value {
    case .boolean, .integer, .double, .decimal, .string: value
    default: PropertyValue?.none
    }
  }

  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    // Without a type, the spelling determines the kind of number.
    Int64(number.text).map(PropertyValue.integer) ?? number.double.map(PropertyValue.double)
  }

  package static func value(ofJSON text: String) -> PropertyValue? { .string(text) }
  package static func value(ofXML text: String) -> PropertyValue? { .string(text) }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    if let number = node.number { return PropertyValue.exact(number) }
    return node.bool.map(PropertyValue.boolean) ?? node.string.map(PropertyValue.string)
  }
}

extension UndefinedKind: BytesStoredKind {
  package static var form: StorageForm { .tagged }

  package static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool {
    guard ValueCodec.canEncode(value) else { return false }
    ValueCodec.encode(value).withUnsafeBytes {
      record.store(field, bytes: $0, allocator: allocator)
    }
    return true
  }

  package static func key(of value: PropertyValue) -> KeyPayload? { nil }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    ValueCodec.decode(bytes)
  }
}
