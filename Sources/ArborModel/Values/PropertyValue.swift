public import Foundation

/// Anything that an attribute or a relationship can hold, as one sendable sum.
///
/// `PropertyValue` is what the dynamic interface speaks: `object["name"]`, predicate constants,
/// aggregates, validation errors and JSON. Typed classes read their properties from record bytes
/// and never make one.
///
/// ```swift
/// employee["age"] = 41                    // .integer(41)
/// if case .string(let name) = employee.value(forKey: "name") { print(name) }
/// ```
///
/// Equality is structural: `.integer(1)` is not `.double(1)`. Predicates compare numbers by their
/// value whatever the case.
public enum PropertyValue: Sendable, Hashable {
  /// No value.
  case null
  /// A Boolean.
  case boolean(Bool)
  /// A whole number of 16, 32 or 64 bits.
  case integer(Int64)
  /// A floating-point number of 32 or 64 bits.
  case double(Double)
  /// A decimal number of up to 38 digits.
  case decimal(Decimal)
  /// A text.
  case string(String)
  /// A point in time.
  case date(Date)
  /// Bytes; also a transformable attribute's archived form.
  case binary(Data)
  /// A universally unique identifier.
  case uuid(UUID)
  /// A URI.
  case uri(URL)
  /// An object, by its identity.
  case objectID(ObjectID)
  /// Several values in order: the members of a relationship, or a list in a predicate.
  case list([PropertyValue])
  /// The named parts of a composite attribute.
  case composite([String: PropertyValue])
}

extension PropertyValue {
  /// Whether this is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension PropertyValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral
{
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// No value.
  public init(nilLiteral: ()) { self = .null }
  /// A list.
  public init(arrayLiteral elements: PropertyValue...) { self = .list(elements) }
}
