public import ArborFoundation

/// A JSON document, or a value in one.
///
/// Two values are equal if they have the same kind and the same meaning: numbers are compared by
/// numeric value, objects without regard to the order of their keys.
///
/// Parsing is lossless: numbers keep all digits, and objects keep the order of their keys.
/// Ambiguous or invalid documents are rejected: duplicate keys, lone surrogates, invalid UTF-8, and
/// any content after the value.
///
/// ```swift
/// let json = try JSONValue.parse(data, source: url.path)
/// let name = json["employees"]?[0]?["name"]?.string
/// let sent: JSONValue = ["name": "Ada", "age": 36, "tags": ["a", nil]]
/// ```
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number, exactly as written.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, with its members in document order.
  case object(JSONObject)
}

extension JSONValue {
  /// A Boolean value that indicates whether the value is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The Boolean, or `nil` if the value is not a Boolean.
  public var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number, or `nil` if the value is not a number.
  public var number: JSONNumber? {
    if case .number(let number) = self { number } else { nil }
  }

  /// The number as a signed 64-bit integer, or `nil` if the value is not a number that fits.
  public var int64: Int64? { number?.int64 }

  /// The string, or `nil` if the value is not a string.
  public var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The array, or `nil` if the value is not an array.
  public var array: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The object, or `nil` if the value is not an object.
  public var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The value of an object's key, or `nil` if the key is missing or the value is not an object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// The element at an index, or `nil` if it is out of bounds or the value is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates `null`.
  public init(nilLiteral: ()) { self = .null }
  /// Creates a Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// Creates a floating-point number, which must be finite.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else {
      stopProgram("JSON has no infinity or NaN. Use a finite literal.")
    }
    self = .number(number)
  }
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object with the members in the order of the literal.
  ///
  /// - Precondition: The keys are distinct.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(literal: elements))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON on one line.
  public var description: String { text() }
}

extension JSONValue {
  /// Parses a JSON document according to RFC 8259.
  ///
  /// Parsing is strict: the text must be valid UTF-8, the keys of an object must be unique,
  /// surrogates must be paired, and only white space may follow the value.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL of the document, for errors.
  ///   - limits: The maximum size and depth.
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  /// - Complexity: Linear in the size of the document.
  public static func parse(
    _ data: Data, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try JSONDocument(data, source: source, limits: limits).root.value
  }

  /// Parses a JSON document according to RFC 8259 from a string.
  ///
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  public static func parse(
    _ text: String, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try parse(Data(text.utf8), source: source, limits: limits)
  }
}
