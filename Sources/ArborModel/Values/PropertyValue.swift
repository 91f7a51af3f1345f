public import ArborFoundation

/// A value of any attribute or relationship.
///
/// `PropertyValue` is used by the dynamic interface: `object["name"]`, predicate constants,
/// aggregates, validation errors and JSON. Typed classes read their properties directly from record
/// bytes without creating a `PropertyValue`.
///
/// ```swift
/// employee["age"] = 41                    // .integer(41)
/// if case .string(let name) = employee.value(forKey: "name") { print(name) }
/// ```
///
/// Equality is structural: `.integer(1)` is not equal to `.double(1)`. Predicates, by contrast,
/// compare numbers by numeric value.
public enum PropertyValue: Sendable, Hashable {
  /// No value.
  case null
  /// A Boolean.
  case boolean(Bool)
  /// An integer of up to 64 bits.
  case integer(Int64)
  /// A floating-point number of 32 or 64 bits.
  case double(Double)
  /// A decimal number of up to 38 digits.
  case decimal(Decimal)
  /// A string.
  case string(String)
  /// A point in time.
  case date(Date)
  /// Bytes, including the archived form of a transformable attribute.
  case binary(Data)
  /// A universally unique identifier.
  case uuid(UUID)
  /// A URI.
  case uri(URL)
  /// An object's ID.
  case objectID(ObjectID)
  /// An ordered list: the members of a relationship, or a list in a predicate.
  case list([PropertyValue])
  /// The named parts of a composite attribute.
  case composite([String: PropertyValue])
}

extension PropertyValue {
  /// A Boolean value that indicates whether the value is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension PropertyValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral
{
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Creates a Boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates ``null``.
  public init(nilLiteral: ()) { self = .null }
  /// Creates a list.
  public init(arrayLiteral elements: PropertyValue...) { self = .list(elements) }
}
