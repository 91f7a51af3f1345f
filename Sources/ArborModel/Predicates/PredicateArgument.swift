public import ArborFoundation

/// A type whose values can be used as constants in a predicate, by interpolation or as format
/// arguments.
///
/// ```swift
/// let young: FetchPredicate = "age < \(40) AND company == \(company.objectID)"
/// ```
///
/// Enumerations with a raw value that is a `PredicateArgument` conform by declaring the
/// conformance.
public protocol PredicateArgument {
  /// The value as a constant.
  var predicateValue: PropertyValue { get }
}

extension PropertyValue: PredicateArgument {
  /// The value itself.
  public var predicateValue: PropertyValue { self }
}

extension PredicateArgument where Self: BinaryInteger {
  /// The integer, or a decimal if it exceeds 64 bits.
  public var predicateValue: PropertyValue {
    Int64(exactly: self).map(PropertyValue.integer)
      ?? Decimal(string: description).map(PropertyValue.decimal) ?? .null
  }
}

extension PredicateArgument where Self: RawRepresentable, RawValue: PredicateArgument {
  /// The raw value as a constant.
  public var predicateValue: PropertyValue { rawValue.predicateValue }
}

extension Int: PredicateArgument {
  /// The integer.
  public var predicateValue: PropertyValue { .integer(Int64(self)) }
}

extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {
  /// The integer.
  public var predicateValue: PropertyValue { .integer(self) }
}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension Double: PredicateArgument {
  /// The number.
  public var predicateValue: PropertyValue { .double(self) }
}

extension Duration: PredicateArgument {
  /// The exact number of seconds, as a decimal.
  public var predicateValue: PropertyValue {
    let digits = DecimalDigits(
      isNegative: attoseconds < 0, text: attoseconds.magnitude.description.utf8, exponent: -18)
    return digits.decimal.map(PropertyValue.decimal) ?? .null
  }
}

extension Float: PredicateArgument {
  /// The exact value as a 64-bit floating-point number.
  public var predicateValue: PropertyValue { .double(Double(self)) }
}

extension Decimal: PredicateArgument {
  /// The number.
  public var predicateValue: PropertyValue { .decimal(self) }
}

extension Bool: PredicateArgument {
  /// The Boolean.
  public var predicateValue: PropertyValue { .boolean(self) }
}

extension String: PredicateArgument {
  /// The string.
  public var predicateValue: PropertyValue { .string(self) }
}

extension Substring: PredicateArgument {
  /// The substring as a string.
  public var predicateValue: PropertyValue { .string(String(self)) }
}

extension Character: PredicateArgument {
  /// The character as a string.
  public var predicateValue: PropertyValue { .string(String(self)) }
}

extension Date: PredicateArgument {
  /// The point in time.
  public var predicateValue: PropertyValue { .date(self) }
}

extension Data: PredicateArgument {
  /// The bytes.
  public var predicateValue: PropertyValue { .binary(self) }
}

extension UUID: PredicateArgument {
  /// The identifier.
  public var predicateValue: PropertyValue { .uuid(self) }
}

extension URL: PredicateArgument {
  /// The absolute URI.
  public var predicateValue: PropertyValue { .uri(absoluteURL) }
}

extension ObjectID: PredicateArgument {
  /// The object's ID.
  public var predicateValue: PropertyValue { .objectID(self) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  /// The constant of the wrapped value, or ``PropertyValue/null`` for `nil`.
  public var predicateValue: PropertyValue { self?.predicateValue ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  /// The elements as a list.
  public var predicateValue: PropertyValue { .list(map(\.predicateValue)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  /// The members as a list, sorted so that equal sets result in equal predicates.
  public var predicateValue: PropertyValue {
    .list(map(\.predicateValue).sorted { PropertyValue.compare($0, $1) == .less })
  }
}

extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  /// The bounds as a list, for `BETWEEN`.
  public var predicateValue: PropertyValue {
    .list([lowerBound.predicateValue, upperBound.predicateValue])
  }
}
