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
/// Two values are equal if they have the same kind and are equal in the order of values:
///
/// - Strings and URIs are compared by code point. Canonically equivalent strings, such as composed
///   and decomposed "é", are different values, although they are equal as `String`s.
/// - Numbers are compared by numeric value: the decimals 1.0 and 1.00 are equal, and so are 0.0 and
///   -0.0. NaN equals itself.
/// - Binary values are compared by their bytes.
///
/// Values of different kinds are not equal: `.integer(1)` is not equal to `.double(1)`. Predicates,
/// by contrast, compare numbers regardless of their types.
public enum PropertyValue: Sendable {
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

extension PropertyValue: Hashable {
  /// Returns whether two values have the same kind and are equal in the order of values.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left == right || left.isNaN && right.isNaN
    case (.decimal(let left), .decimal(let right)): left == right
    case (.string(let left), .string(let right)): StoredText(left) == StoredText(right)
    case (.date(let left), .date(let right)): left == right
    case (.binary(let left), .binary(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.uri(let left), .uri(let right)):
      StoredText(left.absoluteString) == StoredText(right.absoluteString)
    case (.objectID(let left), .objectID(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.composite(let left), .composite(let right)): left == right
    default: false
    }
  }

  /// Hashes the value. Numbers that are equal in the order of values have equal hashes regardless
  /// of their types.
  public func hash(into hasher: inout Hasher) { DistinctValue.hash(self, into: &hasher) }

  /// Returns whether a store that holds one value would be unchanged by the other. Unlike equal
  /// values, 0.0 and -0.0 are different.
  package func isIdentical(to other: Self) -> Bool {
    switch (self, other) {
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)):
      left.timeIntervalSinceReferenceDate.bitPattern
        == right.timeIntervalSinceReferenceDate.bitPattern
    case (.list(let left), .list(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isIdentical(to: $1) }
    case (.composite(let left), .composite(let right)):
      left.count == right.count
        && left.allSatisfy { right[$0.key]?.isIdentical(to: $0.value) ?? false }
    default: self == other
    }
  }
}

extension PropertyValue {
  /// A Boolean value that indicates whether the value is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension PropertyValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
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
  /// Creates a composite: the value of a composite attribute, or an object of a JSON attribute.
  ///
  /// - Precondition: The names are distinct.
  public init(dictionaryLiteral elements: (String, PropertyValue)...) {
    self = .composite(Dictionary(uniqueKeysWithValues: elements))
  }
}
