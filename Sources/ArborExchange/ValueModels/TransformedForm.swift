public import ArborJSON
public import ArborModel

/// What transformers turn properties into: JSON or an attribute's value. No other type conforms.
public protocol TransformedForm: Sendable, Hashable {
  /// Nil.
  static var nothing: Self { get }
  /// A text.
  static func text(_ text: String) -> Self
  /// A whole number.
  static func integer(_ number: Int64) -> Self
  /// A number, which has to be finite.
  static func number(_ number: Double) throws -> Self
  /// Whether this is nil.
  var isNothing: Bool { get }
  /// The text, nil for anything else.
  var textForm: String? { get }
  /// The whole number, nil for anything else.
  var integerForm: Int64? { get }
  /// The number, nil for anything else.
  var numberForm: Double? { get }
}

extension JSONValue: TransformedForm {
  /// `null`.
  public static var nothing: JSONValue { .null }
  /// A string.
  public static func text(_ text: String) -> JSONValue { .string(text) }
  /// A whole number.
  public static func integer(_ number: Int64) -> JSONValue { .number(JSONNumber(number)) }
  /// A number.
  ///
  /// - Throws: ``ArborError`` `unsupportedProperty` for one that is not finite.
  public static func number(_ number: Double) throws -> JSONValue {
    guard let number = JSONNumber(number) else {
      throw ArborError(.unsupportedProperty, "JSON has no infinite numbers; write a finite one.")
    }
    return .number(number)
  }
  /// Whether this is `null`.
  public var isNothing: Bool { isNull }
  /// The text of a string.
  public var textForm: String? { string }
  /// The whole number of 64 bits.
  public var integerForm: Int64? { int64 }
  /// The number that is nearest.
  public var numberForm: Double? { number?.double }
}

extension Value: TransformedForm {
  /// ``null``.
  public static var nothing: Value { .null }
  /// A text.
  public static func text(_ text: String) -> Value { .string(text) }
  /// A number.
  public static func number(_ number: Double) -> Value { .double(number) }
  /// Whether this is ``null``.
  public var isNothing: Bool { isNull }
  /// The text of a ``string(_:)``.
  public var textForm: String? { if case .string(let text) = self { text } else { nil } }
  /// The number of an ``integer(_:)``.
  public var integerForm: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The number of a ``double(_:)`` or ``integer(_:)``.
  public var numberForm: Double? {
    switch self {
    case .double(let number): number
    case .integer(let number): Double(exactly: number)
    default: nil
    }
  }
}
