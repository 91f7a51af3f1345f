package import Foundation

/// A number as its decimal digits: ±0.d₁d₂d₃… × 10^exponent, d₁ ≠ 0, no zero at the end; no digits
/// for zero.
package struct DecimalDigits: Sendable, Hashable {
  package let isNegative: Bool
  /// Each 0…9.
  package let digits: [UInt8]
  package let exponent: Int

  package init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    self.isNegative = isNegative
    self.digits = digits
    self.exponent = exponent
  }

  /// The number whose digits a text holds, other characters skipped, times 10^exponent.
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

  /// A finite floating-point number: exactly where it is a whole number in the range of `Int64`,
  /// elsewhere as the shortest decimal that names it, which is what a person wrote: 9.99 is 9.99.
  ///
  /// Both agree in order with the numbers themselves, since the shortest decimal lies nearer to its
  /// number than to any other.
  package init(_ number: Double) {
    if let whole = Int64(exactly: number) { self.init(whole) } else { self.init(shortest: number) }
  }

  /// The shortest decimal that names a finite floating-point number.
  package init(shortest number: Double) {
    let text = number.magnitude.description
    let parts = text.split(separator: "e")
    let power = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let halves = parts[0].split(separator: ".")
    let fraction = halves.count > 1 ? halves[1].utf8.count : 0
    self.init(isNegative: number < 0, text: parts[0].utf8, exponent: power - fraction)
  }

  /// The number as a `Decimal`, or nil where it has more digits or another magnitude than that
  /// holds.
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
    // The type keeps a significand without zeros at its end, so that its exponent counts too.
    power += significand.exponent
    guard power <= 127 else { return decimalOfText }
    return Decimal(
      sign: isNegative ? .minus : .plus, exponent: power, significand: significand.significand)
  }

  /// Up to nineteen digits as a whole number.
  private static func word(_ digits: ArraySlice<UInt8>) -> UInt64 {
    digits.reduce(0) { $0 * 10 + UInt64($1) }
  }

  /// The rare rest: 39 digits, and powers of ten that only zeros behind the significand reach.
  private var decimalOfText: Decimal? {
    var text = isNegative ? "-" : ""
    text += String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    let zeros = exponent - digits.count - 127
    let power = zeros > 0 ? 127 : exponent - digits.count
    guard digits.count <= 39, zeros < 39, power >= -128 else { return nil }
    text += String(repeating: "0", count: max(0, zeros))
    guard let number = Decimal(string: "\(text)e\(power)"), !number.isNaN else { return nil }
    // What does not fit comes back rounded.
    let kept = DecimalDigits(
      isNegative: number.sign == .minus, text: number.significand.description.utf8,
      exponent: number.exponent)
    return kept == self ? number : nil
  }
}
