internal import ArborFoundation

/// The exact order of numbers by numeric value, across Booleans, integers, floating-point numbers
/// and decimals.
///
/// A Boolean has the value 0 or 1. In a comparison with a decimal, a floating-point number has the
/// value that ``DecimalDigits`` assigns to it: the decimal 9.99 equals the double 9.99.
package enum NumberOrdering {
  /// Compares two numbers. Other values compare as equal.
  package static func compare(_ left: PropertyValue, _ right: PropertyValue) -> Ordering {
    switch (left.wholeNumber, right.wholeNumber) {
    case (let left?, let right?): return Ordering(left, right)
    case (let left?, nil): if case .double(let right) = right { return compare(left, right) }
    case (nil, let right?):
      if case .double(let left) = left { return compare(right, left).reversed }
    case (nil, nil):
      if case .double(let left) = left, case .double(let right) = right {
        return compare(left, right)
      }
    }
    return compareDigits(left, right)
  }

  package static func compare(_ left: Int64, _ right: Double) -> Ordering {
    if right.isNaN { return .greater }
    // 2⁶³ and -2⁶³ are exact in floating point.
    if right >= 0x1p63 { return .less }
    if right < -0x1p63 { return .greater }
    let whole = Int64(right)
    return left == whole ? Ordering(Double(whole), right) : Ordering(left, whole)
  }

  static func compare(_ left: Double, _ right: Double) -> Ordering {
    if left.isNaN || right.isNaN { return Ordering(right.isNaN ? 1 : 0, left.isNaN ? 1 : 0) }
    return Ordering(left, right)
  }

  /// Compares two numbers, at least one of which is a decimal.
  private static func compareDigits(_ left: PropertyValue, _ right: PropertyValue) -> Ordering {
    guard let leftKey = left.numberKey, let rightKey = right.numberKey else {
      return Ordering(left.extremity, right.extremity)
    }
    return leftKey.withUnsafeBytes { left in
      rightKey.withUnsafeBytes { Ordering(bytes: left, $0) }
    }
  }
}

extension PropertyValue {
  /// The numeric value of a Boolean or an integer, or `nil` for any other value.
  var wholeNumber: Int64? {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): number
    default: nil
    }
  }

  /// The number in the order-preserving encoding of ``DecimalCodec``, or `nil` if the value is not
  /// a finite number.
  package var numberKey: [UInt8]? {
    switch self {
    case .boolean(let flag): DecimalCodec.encode(DecimalDigits(Int64(flag ? 1 : 0)))
    case .integer(let number): DecimalCodec.encode(DecimalDigits(number))
    case .double(let number): number.isFinite ? DecimalCodec.encode(DecimalDigits(number)) : nil
    case .decimal(let number): DecimalCodec.encode(number)
    default: nil
    }
  }

  /// The rank of NaN and the infinities among all numbers: NaN, minus infinity, all other numbers,
  /// infinity.
  fileprivate var extremity: Int {
    switch self {
    case .double(let number) where number.isNaN: -2
    case .decimal(let number) where number.isNaN: -2
    case .double(let number) where number.isInfinite: number < 0 ? -1 : 1
    default: 0
    }
  }
}
