import ArborFoundation

/// Support for JSON values as properties of `Codable` types.
///
/// ```swift
/// struct Event: Codable { var name: String; var payload: JSONValue }
/// ```
///
/// The precision of numbers depends on the coder: integers have up to 64 bits, other numbers the 38
/// digits of a `Decimal`. Encoding a number with more digits throws, unless it is exactly the
/// shortest text of a `Double`. ``ValueAdapter`` preserves every digit and the order of keys. Other
/// decoders don't report the order of keys, so decoded keys are sorted.
extension JSONValue: Codable {
  /// Decodes any JSON value.
  ///
  /// - Throws: The decoder's errors, and `DecodingError` for a value that JSON cannot represent.
  public init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Name.self) {
      self = .object(try Self.members(object))
    } else if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      self = try Self.scalar(decoder.singleValueContainer())
    }
  }

  private static func members(_ container: KeyedDecodingContainer<Name>) throws -> JSONObject {
    var object = JSONObject()
    for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      object[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
    }
    return object
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
    if container.decodeNil() { return .null }
    if let flag = try? container.decode(Bool.self) { return .bool(flag) }
    if let text = try? container.decode(String.self) { return .string(text) }
    if let number = try? container.decode(Int64.self) { return .number(JSONNumber(number)) }
    if let whole = try? container.decode(UInt64.self), let number = JSONNumber(text: "\(whole)") {
      return .number(number)
    }
    let double = try container.decode(Double.self)
    // A decimal is more precise, unless the number exceeds its range: then the two differ.
    if let decimal = try? container.decode(Decimal.self), let number = JSONNumber(decimal),
      number.double == double
    {
      return .number(number)
    }
    guard let number = JSONNumber(double) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "JSON has no infinity or NaN. Use a finite number.")
    }
    return .number(number)
  }

  /// Encodes the value in its native form.
  ///
  /// - Throws: The encoder's errors, and `EncodingError` for a number that cannot be encoded
  ///   exactly.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements): try elements.encode(to: encoder)
    case .object(let object):
      var container = encoder.container(keyedBy: Name.self)
      for (key, value) in object { try container.encode(value, forKey: Name(stringValue: key)) }
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let flag): try flag.encode(to: encoder)
    case .string(let text): try text.encode(to: encoder)
    case .number(let number): try encode(number, into: encoder.singleValueContainer())
    }
  }

  private func encode(
    _ number: JSONNumber, into container: any SingleValueEncodingContainer
  ) throws {
    var container = container
    if let whole = number.int64 {
      try container.encode(whole)
    } else if let whole = number.uint64 {
      try container.encode(whole)
    } else if let decimal = number.decimal {
      try container.encode(decimal)
    } else if let double = number.double, JSONNumber(double) == number {
      try container.encode(double)
    } else {
      throw EncodingError.invalidValue(
        number,
        EncodingError.Context(
          codingPath: container.codingPath,
          debugDescription:
            "The number has more than 38 digits or is out of range. Round it, or store it as a "
            + "string.")
      )
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
