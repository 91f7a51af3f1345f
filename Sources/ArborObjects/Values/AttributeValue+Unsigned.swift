internal import ArborFoundation
public import ArborModel

// Integer types whose range differs from that of all attribute types. They are stored in the
// smallest type that can hold all their values, except that 64-bit unsigned integers are stored as
// 64-bit signed ones. The attribute's bounds are the range of the Swift type.

extension AttributeValue where Self: FixedWidthInteger {
  /// Reads an attribute of any integer type. A number outside the type's range, which no commit
  /// accepts, is clamped.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    Self(clamping: object.integer(slot, as: Self.self))
  }
  /// Writes an attribute of any integer type that can hold the number.
  public func store(in object: ManagedObject, slot: Int) {
    guard let number = Int64(exactly: self) else { object.outOfRange(slot) }
    object.setInteger(slot, number, as: Self.self)
  }
  /// Returns the integer of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    value.wholeNumber.flatMap(Self.init(exactly:))
  }
}

extension Int8: AttributeValue {
  /// Always `integer16`.
  public static var attributeType: AttributeType { .integer16 }
}

extension UInt8: AttributeValue {
  /// Always `integer16`.
  public static var attributeType: AttributeType { .integer16 }
}

extension UInt16: AttributeValue {
  /// Always `integer32`.
  public static var attributeType: AttributeType { .integer32 }
}

extension UInt32: AttributeValue {
  /// Always `integer64`.
  public static var attributeType: AttributeType { .integer64 }
}

extension UInt64: AttributeValue {
  /// Always `integer64`, which limits values to numbers below 2⁶³.
  public static var attributeType: AttributeType { .integer64 }
}

extension UInt: AttributeValue {
  /// Always `integer64`, which limits values to numbers below 2⁶³.
  public static var attributeType: AttributeType { .integer64 }
}

extension Duration: AttributeValue {
  /// Always `decimal`, as an exact number of seconds.
  public static var attributeType: AttributeType { .decimal }
  /// Reads a decimal attribute as seconds. Returns zero if the number is out of range.
  public static func load(from object: ManagedObject, slot: Int) -> Duration {
    Duration(seconds: Decimal.load(from: object, slot: slot)) ?? .zero
  }
  /// Writes the seconds to a decimal attribute.
  public func store(in object: ManagedObject, slot: Int) {
    (predicateValue.decimal ?? .nan).store(in: object, slot: slot)
  }
  /// Returns the duration of the number of seconds in a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Duration? {
    Decimal.fromValue(value).flatMap { Duration(seconds: $0) }
  }

  /// Creates a duration from seconds, truncated to attoseconds. Returns `nil` if they are out of
  /// range.
  private init?(seconds: Decimal) {
    guard !seconds.isNaN else { return nil }
    let scaled = Decimal(sign: .plus, exponent: 18, significand: seconds)
    guard !scaled.isNaN else { return nil }
    // 2⁶³ seconds, in attoseconds, because a duration counts seconds in 64 bits.
    let limit: Int128 = 9_223_372_036_854_775_808_000_000_000_000_000_000
    guard let attoseconds = Int128(scaled.truncated.description),
      (-limit..<limit).contains(attoseconds)
    else { return nil }
    self.init(attoseconds: attoseconds)
  }
}

/// The ranges of Swift integer types, as bounds of attributes.
enum AttributeRange {
  /// Returns the bounds of a Swift type, or `nil` if they are those of its attribute type.
  static func bounds(of type: Any.Type) -> (minimum: PropertyValue, maximum: PropertyValue)? {
    if let optional = type as? any OptionalValue.Type { return bounds(of: optional.wrappedType) }
    switch type {
    case is Int8.Type: return (-128, 127)
    case is UInt8.Type: return (0, 255)
    case is UInt16.Type: return (0, 65_535)
    case is UInt32.Type: return (0, 4_294_967_295)
    case is UInt64.Type, is UInt.Type: return (0, .null)
    default: return nil
    }
  }

  /// Returns the name of a numeric type that no attribute can represent exactly, or `nil` for other
  /// types.
  static func unsupportedNumber(_ type: Any.Type) -> String? {
    if let optional = type as? any OptionalValue.Type {
      return unsupportedNumber(optional.wrappedType)
    }
    if type is any AttributeValue.Type { return nil }
    if let raw = type as? any RawRepresentable.Type { return unsupportedRawNumber(raw) }
    return type is any Numeric.Type ? "\(type)" : nil
  }

  private static func unsupportedRawNumber<R: RawRepresentable>(_ type: R.Type) -> String? {
    unsupportedNumber(R.RawValue.self)
  }
}
