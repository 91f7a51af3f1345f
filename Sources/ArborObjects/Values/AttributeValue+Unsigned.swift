public import ArborModel
public import Foundation

// Numbers whose range is not that of a type of attributes. The smallest type that holds all of them
// keeps them, and 64 unsigned bits are kept by 64 signed ones; the attribute's bounds are the range
// of the Swift type.

extension AttributeValue where Self: FixedWidthInteger {
  /// Reads an attribute of any whole-number type. What lies outside of the type's range, which no
  /// commit accepts, reads as the nearest number in it.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    Self(clamping: object.integer(slot, as: Self.self))
  }
  /// Writes an attribute of any whole-number type that has room for the number.
  public func store(in object: ManagedObject, slot: Int) {
    guard let number = Int64(exactly: self) else { object.outOfRange(slot) }
    object.setInteger(slot, number, as: Self.self)
  }
  /// The whole number a value holds.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    value.wholeNumber.flatMap(Self.init(exactly:))
  }
}

extension Int8: AttributeValue {
  /// `integer16`
  public static var attributeType: AttributeType { .integer16 }
}

extension UInt8: AttributeValue {
  /// `integer16`
  public static var attributeType: AttributeType { .integer16 }
}

extension UInt16: AttributeValue {
  /// `integer32`
  public static var attributeType: AttributeType { .integer32 }
}

extension UInt32: AttributeValue {
  /// `integer64`
  public static var attributeType: AttributeType { .integer64 }
}

extension UInt64: AttributeValue {
  /// `integer64`, which holds numbers below 2⁶³.
  public static var attributeType: AttributeType { .integer64 }
}

extension UInt: AttributeValue {
  /// `integer64`, which holds numbers below 2⁶³.
  public static var attributeType: AttributeType { .integer64 }
}

extension CGFloat: AttributeValue {
  /// `double`
  public static var attributeType: AttributeType { .double }
  /// Reads an attribute of either floating-point type.
  public static func load(from object: ManagedObject, slot: Int) -> CGFloat {
    CGFloat(Double.load(from: object, slot: slot))
  }
  /// Writes an attribute of either floating-point type; one of 32 bits rounds.
  public func store(in object: ManagedObject, slot: Int) {
    Double(self).store(in: object, slot: slot)
  }
  /// The number a value holds, whole or not.
  public static func fromValue(_ value: PropertyValue) -> CGFloat? {
    value.number.map { CGFloat($0) }
  }
}

extension Duration: AttributeValue {
  /// `decimal`: the seconds, exactly.
  public static var attributeType: AttributeType { .decimal }
  /// Reads a decimal attribute as seconds; zero if they exceed all durations.
  public static func load(from object: ManagedObject, slot: Int) -> Duration {
    Duration(seconds: Decimal.load(from: object, slot: slot)) ?? .zero
  }
  /// Writes the seconds to a decimal attribute.
  public func store(in object: ManagedObject, slot: Int) {
    (predicateValue.decimal ?? .nan).store(in: object, slot: slot)
  }
  /// The duration of as many seconds as a value holds.
  public static func fromValue(_ value: PropertyValue) -> Duration? {
    Decimal.fromValue(value).flatMap { Duration(seconds: $0) }
  }

  /// Digits after the eighteenth, which are parts of an attosecond, are cut off; nil beyond all
  /// durations.
  private init?(seconds: Decimal) {
    guard !seconds.isNaN else { return nil }
    var (number, scaled, whole) = (seconds, Decimal(), Decimal())
    guard NSDecimalMultiplyByPowerOf10(&scaled, &number, 18, .plain) == .noError else {
      return nil
    }
    NSDecimalRound(&whole, &scaled, 0, scaled.isSignMinus ? .up : .down)
    // 2⁶³ seconds: a duration counts its seconds in 64 bits.
    let limit: Int128 = 9_223_372_036_854_775_808_000_000_000_000_000_000
    guard let attoseconds = Int128(whole.description), (-limit..<limit).contains(attoseconds)
    else { return nil }
    self.init(attoseconds: attoseconds)
  }
}

/// The range of a Swift type of whole numbers, as bounds of the attribute that keeps them.
enum AttributeRange {
  /// The bounds; nil if they are those of the attribute's type.
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

  /// The name of a type of numbers that no attribute holds exactly; nil for all other types.
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
