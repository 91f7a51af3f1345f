public import Foundation

/// What can stand in a predicate in place of a constant: interpolated, or as a format's argument.
///
/// ```swift
/// let young: FetchPredicate = "age < \(40) AND company == \(company.objectID)"
/// ```
///
/// Enumerations with a raw value that is a `PredicateArgument` conform by naming the protocol.
public protocol PredicateArgument {
  /// The constant that the argument stands for.
  var predicateValue: PropertyValue { get }
}

extension PropertyValue: PredicateArgument {
  /// The value itself.
  public var predicateValue: PropertyValue { self }
}

extension PredicateArgument where Self: BinaryInteger {
  /// The whole number; a decimal where it exceeds 64 bits.
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
  /// The whole number.
  public var predicateValue: PropertyValue { .integer(Int64(self)) }
}

extension Int8: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int64: PredicateArgument {
  /// The whole number.
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

extension CGFloat: PredicateArgument {
  /// The number.
  public var predicateValue: PropertyValue { .double(Double(self)) }
}

extension Duration: PredicateArgument {
  /// The seconds as a decimal, which is exact.
  public var predicateValue: PropertyValue {
    let digits = DecimalDigits(
      isNegative: attoseconds < 0, text: attoseconds.magnitude.description.utf8, exponent: -18)
    return digits.decimal.map(PropertyValue.decimal) ?? .null
  }
}

extension Float: PredicateArgument {
  /// The number at 64 bits, which hold every number of 32.
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
  /// The text.
  public var predicateValue: PropertyValue { .string(self) }
}

extension Substring: PredicateArgument {
  /// The text.
  public var predicateValue: PropertyValue { .string(String(self)) }
}

extension Character: PredicateArgument {
  /// The character as a text.
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
  /// The URI, absolute.
  public var predicateValue: PropertyValue { .uri(absoluteURL) }
}

extension ObjectID: PredicateArgument {
  /// The object, by its identity.
  public var predicateValue: PropertyValue { .objectID(self) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  /// The constant of the wrapped argument; ``PropertyValue/null`` for nil.
  public var predicateValue: PropertyValue { self?.predicateValue ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  /// The elements as a list.
  public var predicateValue: PropertyValue { .list(map(\.predicateValue)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  /// The members as a list, in the order of values, so that equal sets give equal predicates.
  public var predicateValue: PropertyValue {
    .list(map(\.predicateValue).sorted { PropertyValue.compare($0, $1) == .less })
  }
}

extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  /// The bounds as a list, which `BETWEEN` takes.
  public var predicateValue: PropertyValue {
    .list([lowerBound.predicateValue, upperBound.predicateValue])
  }
}
