package import ArborFoundation

/// A number as decimal digits: ±0.d₁d₂d₃… × 10^exponent, with d₁ ≠ 0 and without trailing zeros.
/// Zero has no digits.
package struct DecimalDigits: Sendable, Hashable {
  package let isNegative: Bool
  /// The digits, each from 0 to 9.
  package let digits: [UInt8]
  package let exponent: Int

  package init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    self.isNegative = isNegative
    self.digits = digits
    self.exponent = exponent
  }

  /// Creates a number from the digits in a text, times 10^exponent. Other characters are ignored.
  package init(isNegative: Bool, text: some Sequence<UInt8>, exponent: Int) {
    var digits = text.compactMap { byte in
      byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : nil
    }
    let zeros = digits.prefix { $0 == 0 }.count
    let digitCount = digits.count - zeros
    digits.removeFirst(zeros)
    while digits.last == 0 { digits.removeLast() }
    self.digits = digits
    self.isNegative = isNegative && !digits.isEmpty
    self.exponent = digits.isEmpty ? 0 : exponent + digitCount
  }

  package init(_ number: Int64) {
    self.init(isNegative: number < 0, text: number.magnitude.description.utf8, exponent: 0)
  }

  /// Creates a number from a finite floating-point number: exactly if it is an integer in the range
  /// of `Int64`, otherwise from its shortest decimal text, so that 9.99 is 9.99.
  ///
  /// Both preserve the order, because the shortest decimal is closer to its number than to any
  /// other.
  package init(_ number: Double) {
    if let whole = Int64(exactly: number) { self.init(whole) } else { self.init(shortest: number) }
  }

  /// Creates a number from the shortest decimal text of a finite floating-point number.
  package init(shortest number: Double) {
    let text = number.magnitude.description
    let parts = text.split(separator: "e")
    let power = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let halves = parts[0].split(separator: ".")
    let fraction = halves.count > 1 ? halves[1].utf8.count : 0
    self.init(isNegative: number < 0, text: parts[0].utf8, exponent: power - fraction)
  }

  /// The number as a `Decimal`, or `nil` if it has too many digits or exceeds the range.
  package var decimal: Decimal? {
    if digits.isEmpty { return 0 }
    var power = exponent - digits.count
    guard digits.count <= 38, power >= -128, power <= 127 else { return decimalOfText }
    let split = min(digits.count, 19)
    var significand = Decimal(Self.word(digits[..<split]))
    if split < digits.count {
      significand =
        Decimal(sign: .plus, exponent: digits.count - split, significand: significand)
        + Decimal(Self.word(digits[split...]))
    }
    // `Decimal` stores significands without trailing zeros, so the exponent must be added.
    power += significand.exponent
    guard power <= 127 else { return decimalOfText }
    return Decimal(
      sign: isNegative ? .minus : .plus, exponent: power, significand: significand.significand)
  }

  /// Returns up to 19 digits as an integer.
  private static func word(_ digits: ArraySlice<UInt8>) -> UInt64 {
    digits.reduce(0) { $0 * 10 + UInt64($1) }
  }

  /// The number as a `Decimal` in the rare remaining cases: 39 digits, and exponents that require
  /// trailing zeros in the significand.
  private var decimalOfText: Decimal? {
    var text = isNegative ? "-" : ""
    text += String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    let zeros = exponent - digits.count - 127
    let power = zeros > 0 ? 127 : exponent - digits.count
    guard digits.count <= 39, zeros < 39, power >= -128 else { return nil }
    text += String(repeating: "0", count: max(0, zeros))
    guard let number = Decimal(string: "\(text)e\(power)"), !number.isNaN else { return nil }
    // A number that doesn't fit is rounded, and then no longer equals this one.
    let kept = DecimalDigits(
      isNegative: number.sign == .minus, text: number.significand.description.utf8,
      exponent: number.exponent)
    return kept == self ? number : nil
  }
}
