public import Foundation

/// A JSON document or a part of one.
///
/// Values are equal when they are of the same kind and denote the same: numbers compare by what
/// they denote, objects without regard to the order of their keys.
///
/// Nothing is lost on the way in: numbers keep every digit, objects keep the order of their keys. A
/// document that says something twice or leaves its meaning open is refused: duplicate keys, lone
/// surrogates, bytes that are no UTF-8, anything behind the value.
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
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Named members in order.
  case object(JSONObject)
}

extension JSONValue {
  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The Boolean, or nil for any other value.
  public var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number, or nil for any other value.
  public var number: JSONNumber? {
    if case .number(let number) = self { number } else { nil }
  }

  /// The whole number of 64 bits, or nil for any other value.
  public var int64: Int64? { number?.int64 }

  /// The text, or nil for any other value.
  public var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The list, or nil for any other value.
  public var array: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The object, or nil for any other value.
  public var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The value of an object's key; nil where there is none or this is no object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// A list's element; nil beyond its end or where this is no list.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// A floating-point number, which must be finite.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else {
      stopProgram("JSON has no infinity or NaN. Use a finite literal.")
    }
    self = .number(number)
  }
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object with the literal's order; keys must differ.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(literal: elements))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON on one line.
  public var description: String { text() }
}

extension JSONValue {
  /// Reads a document of RFC 8259.
  ///
  /// Strict: UTF-8 is checked, keys are unique in their object, surrogates come in pairs, and
  /// nothing but white space follows the value.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL it comes from; errors name it.
  ///   - limits: The size and depth beyond which a document is refused.
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  /// - Complexity: Linear in the size of the document.
  public static func parse(
    _ data: Data, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try JSONDocument(data, source: source, limits: limits).root.value
  }

  /// Reads a document of RFC 8259 from a text.
  ///
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  public static func parse(
    _ text: String, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try parse(Data(text.utf8), source: source, limits: limits)
  }
}
