package import ArborFoundation
package import ArborJSON

/// An attribute type whose values are floating-point numbers.
package protocol RealAttributeKind: AttributeKind {}

extension RealAttributeKind {
  package static var expectation: String { "a number" }
  package static var valueKind: ValueKind { .number }
  package static var isNumber: Bool { true }
  package static var boundType: AttributeType? { type }

  package static func keeps(_ value: PropertyValue) -> Bool {
    switch value {
    case .double, .integer: true
    default: false
    }
  }

  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    number.double.flatMap { fitting(.double($0)) }
  }

  package static func value(ofJSON text: String) -> PropertyValue? {
    text.hasSuffix("inf") ? Double(text).flatMap { fitting(.double($0)) } : nil
  }

  package static func value(ofXML text: String) -> PropertyValue? {
    Double(text).flatMap { fitting(.double($0)) }
  }

  package static func value(ofFormerXML text: String) -> PropertyValue? {
    Bool(modelText: text).flatMap { fitting(.integer($0 ? 1 : 0)) }
  }
}

/// A kind that is stored in records as a floating-point number.
package protocol RealStoredKind: FixedStoredKind {}

extension RealStoredKind {
  package static var form: StorageForm { .real }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    guard case .double(let number) = value, !number.isNaN else { return nil }
    return .number(KeyBits.of(number))
  }

  package static func value(ofKey bits: UInt64) -> PropertyValue? {
    KeyBits.double(bits).map(PropertyValue.double)
  }

  package static func value(ofReal number: Double) -> PropertyValue { .double(number) }
}

package enum FloatKind: RealAttributeKind {
  package static var type: AttributeType { .float }
  package static var field: FieldKind { .float }
  package static var fingerprintCode: UInt8 { 5 }
  package static var xmlName: String { "Float" }
  package static var jsonName: String { "float" }
  package static var swiftName: String { "Float" }
  package static var documentExpectation: String {
    "a number in the 32-bit floating-point range (±\(Float.greatestFiniteMagnitude))"
  }
  package static var wider: [FieldKind] { [.double] }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    switch value {
    case .integer(let number): return .double(Double(Float(number)))
    case .double(let number):
      let rounded = Float(number)
      guard rounded.isFinite || number.isInfinite else { return PropertyValue?.none }
      return .double(Double(rounded))
    default: return PropertyValue?.none
    }
  }

  package static func exactly(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .double(let number):
      return Double(Float(number)) == number ? .double(number) : PropertyValue?.none
    case .integer(let number): return Float(exactly: number).map { .double(Double($0)) }
    case .decimal(let number): return number.exactDouble.flatMap { exactly(.double($0)) }
    default: return fitting(value)
    }
  }

  package static func spelled(_ text: String) -> PropertyValue? {
    Float(text).flatMap { "\($0)" == text ? fitting(.double(Double($0))) : nil }
  }

  package static func value(ofDocument number: JSONNumber) -> PropertyValue? {
    number.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
  }
}

extension FloatKind: RealStoredKind {
  package typealias Slot = Float

  package static func slot(of value: PropertyValue) -> Slot? {
    switch value {
    case .double(let number): Slot(number).isFinite || number.isInfinite ? Slot(number) : nil
    case .integer(let number): Slot(number)
    default: nil
    }
  }

  package static func value(of slot: Slot) -> PropertyValue { .double(Double(slot)) }
}

package enum DoubleKind: RealAttributeKind {
  package static var type: AttributeType { .double }
  package static var field: FieldKind { .double }
  package static var fingerprintCode: UInt8 { 6 }
  package static var xmlName: String { "Double" }
  package static var jsonName: String { "double" }
  package static var swiftName: String { "Double" }
  package static var documentExpectation: String {
    "a number in the 64-bit floating-point range (±\(Double.greatestFiniteMagnitude))"
  }
  package static var holdsUniqueNumbers: Bool { true }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    switch value {
    case .integer(let number): .double(Double(number))
    case .double: value
    default: PropertyValue?.none
    }
  }

  package static func exactly(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .integer(let number): Double(exactly: number).map { .double($0) }
    case .decimal(let number): number.exactDouble.flatMap { exactly(.double($0)) }
    default: fitting(value)
    }
  }

  package static func restored(_ value: PropertyValue) -> PropertyValue? {
    if case .date(let date) = value { return .double(date.timeIntervalSinceReferenceDate) }
    return restoredPlainly(value)
  }

  package static func spelled(_ text: String) -> PropertyValue? {
    Double(text).flatMap { "\($0)" == text ? fitting(.double($0)) : nil }
  }

  package static func value(ofDocument number: JSONNumber) -> PropertyValue? {
    number.double.map(PropertyValue.double)
  }

  package static func unique(_ number: Int64) -> PropertyValue? { .double(Double(number)) }
}

extension DoubleKind: RealStoredKind {
  package typealias Slot = Double

  package static func slot(of value: PropertyValue) -> Slot? {
    switch value {
    case .double(let number): number.isNaN ? nil : number
    case .integer(let number): Slot(number)
    default: nil
    }
  }

  package static func value(of slot: Slot) -> PropertyValue { .double(slot) }
}

/// The kind of points in time, which are stored as seconds since 2001-01-01 UTC.
package enum DateKind: AttributeKind {
  package static var type: AttributeType { .date }
  package static var field: FieldKind { .date }
  package static var fingerprintCode: UInt8 { 9 }
  package static var xmlName: String { "Date" }
  package static var jsonName: String { "date" }
  package static var swiftName: String { "Date" }
  package static var expectation: String { "a date" }
  package static var valueKind: ValueKind { .date }
  package static var boundType: AttributeType? { type }
  package static var hasXMLDefault: Bool { false }

  package static func keeps(_ value: PropertyValue) -> Bool {
    value.date != nil && !value.containsNaN
  }

  package static func restored(_ value: PropertyValue) -> PropertyValue? {
    if case .double(let seconds) = value { return self.value(ofReal: seconds) }
    return restoredPlainly(value)
  }

  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    number.double.map { value(ofReal: $0) }
  }

  package static func value(ofJSON text: String) -> PropertyValue? {
    ISO8601Date.parse(text).map(PropertyValue.date)
  }
}

extension DateKind: RealStoredKind {
  package typealias Slot = Double

  package static var readAs: [FieldKind] { [.double] }

  package static func slot(of value: PropertyValue) -> Slot? {
    value.date.flatMap { date in
      let seconds = date.timeIntervalSinceReferenceDate
      return seconds.isFinite ? seconds : nil
    }
  }

  package static func value(of slot: Slot) -> PropertyValue { value(ofReal: slot) }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    value.date.flatMap { DoubleKind.key(of: .double($0.timeIntervalSinceReferenceDate)) }
  }

  package static func value(ofKey bits: UInt64) -> PropertyValue? {
    KeyBits.double(bits).map { value(ofReal: $0) }
  }

  package static func value(ofReal number: Double) -> PropertyValue {
    .date(Date(timeIntervalSinceReferenceDate: number))
  }
}

/// The kind of decimal numbers of up to 38 digits.
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

  package static func keeps(_ value: PropertyValue) -> Bool {
    switch value {
    case .decimal, .integer: true
    default: false
    }
  }

  // Converted by its text, because the literal 9.99 means the decimal, not the nearest binary
  // number.
  package static func form(of value: PropertyValue) -> PropertyValue? {
    value.decimal.map(PropertyValue.decimal)
  }

  package static func spelled(_ text: String) -> PropertyValue? {
    Decimal(string: text).flatMap { "\($0)" == text ? .decimal($0) : nil }
  }

  package static func value(ofJSON number: JSONNumber) -> PropertyValue? {
    number.decimal.map(PropertyValue.decimal)
  }

  package static func value(ofXML text: String) -> PropertyValue? {
    JSONNumber(text: text)?.decimal.map(PropertyValue.decimal)
  }

  package static func value(ofFormerXML text: String) -> PropertyValue? {
    Bool(modelText: text).flatMap { fitting(.integer($0 ? 1 : 0)) }
  }

  package static func value(ofDocument number: JSONNumber) -> PropertyValue? {
    number.decimal.map(PropertyValue.decimal)
  }

  package static func unique(_ number: Int64) -> PropertyValue? { .decimal(Decimal(number)) }
}

extension Decimal {
  /// The floating-point number with the same digits, or `nil` if there isn't one.
  var exactDouble: Double? {
    guard let double = Double(description), let back = Decimal(string: "\(double)"), back == self
    else { return nil }
    return double
  }
}

extension Decimal {
  /// The number rounded toward zero.
  package var truncated: Decimal {
    exponent < 0 ? Decimal(string: String(description.prefix { $0 != "." })) ?? .nan : self
  }
}

extension DecimalKind: BytesStoredKind {
  package static var form: StorageForm { .decimal }

  package static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool {
    let value =
      if case .integer(let whole) = value { PropertyValue.decimal(Decimal(whole)) } else { value }
    return store(field, value, in: &record, allocator)
  }

  package static func key(of value: PropertyValue) -> KeyPayload? {
    guard case .decimal(let number) = value else { return nil }
    return DecimalCodec.encode(number).map(KeyPayload.decimal)
  }

  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    DecimalCodec.decode(bytes).map(PropertyValue.decimal)
  }
}
