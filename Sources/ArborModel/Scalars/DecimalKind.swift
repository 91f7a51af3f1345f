package import ArborJSON
internal import Foundation

/// Decimal numbers of up to 38 digits.
package enum DecimalKind: AttributeKind {
  package static var type: AttributeType { .decimal }
  package static var field: FieldKind { .decimal }
  package static var fingerprintCode: UInt8 { 7 }
  package static var xmlName: String { "Decimal" }
  package static var jsonName: String { "decimal" }
  package static var swiftName: String { "Decimal" }
  package static var expectation: String { "a decimal number" }
  package static var documentExpectation: String { "a number of at most 38 digits" }
  package static var valueKind: ValueKind { .number }
  package static var isNumber: Bool { true }
  package static var boundType: AttributeType? { type }
  package static var holdsUniqueNumbers: Bool { true }

  package static func keeps(_ value: Value) -> Bool {
    switch value {
    case .decimal, .integer: true
    default: false
    }
  }

  // Through its text: the literal 9.99 means the decimal, not the binary number next to it.
  package static func form(of value: Value) -> Value? { value.decimal.map(Value.decimal) }

  package static func spelled(_ text: String) -> Value? {
    Decimal(string: text).flatMap { "\($0)" == text ? .decimal($0) : nil }
  }

  package static func value(ofJSON number: JSONNumber) -> Value? {
    number.decimal.map(Value.decimal)
  }

  package static func value(ofXML text: String) -> Value? {
    JSONNumber(text: text)?.decimal.map(Value.decimal)
  }

  package static func value(ofFormerXML text: String) -> Value? {
    Bool(modelText: text).flatMap { fitting(.integer($0 ? 1 : 0)) }
  }

  package static func value(ofDocument number: JSONNumber) -> Value? {
    number.decimal.map(Value.decimal)
  }

  package static func unique(_ number: Int64) -> Value? { .decimal(Decimal(number)) }
}

extension Decimal {
  /// The floating-point number that is written with the same digits, if there is one.
  var exactDouble: Double? {
    let double = NSDecimalNumber(decimal: self).doubleValue
    guard let back = Decimal(string: "\(double)"), back == self else { return nil }
    return double
  }
}

extension DecimalKind: BytesStoredKind {
  package static var form: StorageForm { .decimal }

  package static func set(
    _ field: RecordField, _ value: Value, in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) -> Bool {
    let value = if case .integer(let whole) = value { Value.decimal(Decimal(whole)) } else { value }
    return store(field, value, in: &record, allocator)
  }

  package static func key(of value: Value) -> KeyPayload? {
    guard case .decimal(let number) = value else { return nil }
    return DecimalCodec.encode(number).map(KeyPayload.decimal)
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> Value? {
    DecimalCodec.decode(bytes).map(Value.decimal)
  }
}
