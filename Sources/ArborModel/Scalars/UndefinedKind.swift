package import ArborJSON

/// Attributes without a type, whose values say what they are.
package enum UndefinedKind: AttributeKind {
  package static var type: AttributeType { .undefined }
  package static var field: FieldKind { .tagged }
  package static var fingerprintCode: UInt8 { 15 }
  package static var xmlName: String { "Undefined" }
  package static var jsonName: String { "undefined" }
  package static var swiftName: String { "Value" }
  package static var expectation: String { "a text, a number or a Boolean" }
  package static var documentExpectation: String { "a Boolean, a number or a string" }
  package static var valueKind: ValueKind { .any }
  package static var isPlain: Bool { false }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: Value) -> Bool { true }

  package static func form(of value: Value) -> Value? {
    switch value {
    case .boolean, .integer, .double, .decimal, .string: value
    default: Value?.none
    }
  }

  package static func value(ofJSON number: JSONNumber) -> Value? {
    // Without a type the spelling decides.
    Int64(number.text).map(Value.integer) ?? number.double.map(Value.double)
  }

  package static func value(ofJSON text: String) -> Value? { .string(text) }
  package static func value(ofXML text: String) -> Value? { .string(text) }
  package static func value(ofDocument node: JSONNode) -> Value? {
    if let number = node.number { return exactValue(of: number) }
    return node.bool.map(Value.boolean) ?? node.string.map(Value.string)
  }
}

extension UndefinedKind {
  /// A number without loss: whole, floating-point or decimal; nil for more than 38 digits.
  package static func exactValue(of number: JSONNumber) -> Value? {
    if let whole = number.int64 { return .integer(whole) }
    if let double = number.double, JSONNumber(double) == number { return .double(double) }
    return number.decimal.map(Value.decimal)
  }
}

extension UndefinedKind: BytesStoredKind {
  package static var form: StorageForm { .tagged }

  package static func set(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    guard ValueCodec.canEncode(value) else { return false }
    ValueCodec.encode(value).withUnsafeBytes {
      record.store(field, bytes: $0, allocator: allocator)
    }
    return true
  }

  package static func key(of value: Value) -> KeyPayload? { nil }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    ValueCodec.decode(bytes)
  }
}
