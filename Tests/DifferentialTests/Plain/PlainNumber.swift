import Foundation

/// A number that is compared by its decimal digits.
///
/// The value of a floating-point number that is an integer of at most 64 bits is exact; that of any
/// other is the shortest decimal that represents it.
struct PlainNumber {
  let isNegative: Bool
  /// The digits without leading and trailing zeros; empty for zero.
  let digits: [UInt8]
  /// The exponent of the value, which is 0.digits × 10^exponent.
  let exponent: Int

  /// Parses numbers such as `-12.5e-3`.
  init(_ text: String) {
    var digits: [UInt8] = []
    var shift = 0
    var exponent = 0
    var isBehindPoint = false
    var rest = Substring(text)
    isNegative = rest.hasPrefix("-")
    if isNegative { rest = rest.dropFirst() }
    if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      exponent = Int(rest[rest.index(after: mark)...].drop { $0 == "+" }) ?? 0
      rest = rest[..<mark]
    }
    for character in rest.utf8 {
      if character == UInt8(ascii: ".") {
        isBehindPoint = true
      } else {
        digits.append(character - UInt8(ascii: "0"))
        if !isBehindPoint { shift += 1 }
      }
    }
    while digits.first == 0 {
      digits.removeFirst()
      shift -= 1
    }
    while digits.last == 0 { digits.removeLast() }
    self.digits = digits
    self.exponent = digits.isEmpty ? 0 : exponent + shift
  }

  init?(_ value: PlainValue) {
    switch value {
    case .boolean(let flag): self.init(flag ? "1" : "0")
    case .integer(let number): self.init("\(number)")
    case .double(let number):
      guard number.isFinite else { return nil }
      if let whole = Int64(exactly: number) {
        self.init("\(whole)")
      } else {
        self.init("\(number)")
      }
    case .decimal(let number):
      if number.isNaN { return nil }
      self.init("\(number)")
    default: return nil
    }
  }

  /// Returns -1, 0 or 1. NaN sorts before all numbers.
  static func compare(_ left: PlainValue, _ right: PlainValue) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return sign(left, right)
    case (.double(let left), .double(let right)) where !left.isNaN && !right.isNaN:
      return sign(left, right)
    default: break
    }
    guard let first = PlainNumber(left), let second = PlainNumber(right) else {
      return sign(extremity(left), extremity(right))
    }
    return first.compared(to: second)
  }

  func compared(to other: PlainNumber) -> Int {
    let (mine, others) = (signum, other.signum)
    if mine != others || mine == 0 { return sign(mine, others) }
    if exponent != other.exponent { return mine * sign(exponent, other.exponent) }
    return mine * lexicographic(digits, other.digits)
  }

  private var signum: Int { digits.isEmpty ? 0 : (isNegative ? -1 : 1) }

  /// Returns the order of NaN and the infinities relative to finite numbers.
  private static func extremity(_ value: PlainValue) -> Int {
    if value.isNaN { return -2 }
    if case .double(let number) = value, number.isInfinite { return number < 0 ? -1 : 1 }
    return 0
  }
}
