internal import ArborFoundation

/// A decimal as an integer of at most 38 digits times a power of ten, with arithmetic that never
/// traps.
///
/// Foundation's operations trap if an exponent overflows. Here, a result outside the range of
/// `Decimal` is `nil`, and a result with more than 38 digits is rounded, with ties away from zero.
struct ExactDecimal {
  private let isNegative: Bool
  /// The significand, less than 10³⁸.
  private let significand: UInt128
  private let exponent: Int

  /// The powers 10⁰ … 10³⁸.
  private static let powers: [UInt128] = {
    var powers: [UInt128] = [1]
    for index in 0..<38 { powers.append(powers[index] * 10) }
    return powers
  }()

  private static var limit: UInt128 { powers[38] }

  private init(_ isNegative: Bool, _ significand: UInt128, _ exponent: Int) {
    if significand < Self.limit {
      (self.significand, self.exponent) = (significand, exponent)
    } else {
      (self.significand, self.exponent) = (Self.tenth(significand), exponent + 1)
    }
    self.isNegative = isNegative && significand > 0
  }

  /// Creates an exact decimal, or returns `nil` for NaN.
  init?(_ number: Decimal) {
    guard !number.isNaN else { return nil }
    var significand: UInt128 = 0
    for byte in number.significand.description.utf8 where byte &- UInt8(ascii: "0") < 10 {
      let (product, overflows) = significand.multipliedReportingOverflow(by: 10)
      guard !overflows else { return nil }
      significand = product + UInt128(byte - UInt8(ascii: "0"))
    }
    self.init(number.sign == .minus, significand, number.exponent)
  }

  /// The number as a `Decimal`, or `nil` if it exceeds the range.
  var decimal: Decimal? {
    DecimalDigits(isNegative: isNegative, text: significand.description.utf8, exponent: exponent)
      .decimal
  }

  private static func tenth(_ significand: UInt128) -> UInt128 {
    let (quotient, rest) = significand.quotientAndRemainder(dividingBy: 10)
    return quotient + (rest >= 5 ? 1 : 0)
  }

  // MARK: Operations

  var negated: ExactDecimal { ExactDecimal(!isNegative, significand, exponent) }

  func adding(_ other: ExactDecimal) -> ExactDecimal {
    if significand == 0 { return other }
    if other.significand == 0 { return self }
    let (upper, lower) = exponent >= other.exponent ? (self, other) : (other, self)
    let isSum = upper.isNegative == lower.isNegative
    var (high, shift) = (upper.significand, upper.exponent - lower.exponent)
    // 10³⁷ minus a small number has 37 digits, which leaves room for one more.
    while shift > 38, high < Self.powers[37] || high == Self.powers[37] && !isSum {
      high *= 10
      shift -= 1
    }
    // The number with the lower exponent is less than a tenth of the other's last digit.
    guard shift <= 38 else { return upper }
    // Aligned to the last digit of the number with the lower exponent, no digit is lost before the
    // end, even if the numbers cancel.
    let wide = high.multipliedFullWidth(by: Self.powers[shift])
    if isSum {
      let (low, carries) = wide.low.addingReportingOverflow(lower.significand)
      return Self.rounded(upper.isNegative, (wide.high + (carries ? 1 : 0), low), lower.exponent)
    }
    if wide.high == 0, wide.low < lower.significand {
      return ExactDecimal(lower.isNegative, lower.significand - wide.low, lower.exponent)
    }
    let (low, borrows) = wide.low.subtractingReportingOverflow(lower.significand)
    return Self.rounded(upper.isNegative, (wide.high - (borrows ? 1 : 0), low), lower.exponent)
  }

  func multiplied(by other: ExactDecimal) -> ExactDecimal {
    Self.rounded(
      isNegative != other.isNegative, significand.multipliedFullWidth(by: other.significand),
      exponent + other.exponent)
  }

  /// Returns the nearest decimal to a number of up to 76 digits, with ties away from zero.
  private static func rounded(
    _ isNegative: Bool, _ digits: (high: UInt128, low: UInt128), _ exponent: Int
  ) -> ExactDecimal {
    if digits.high == 0, digits.low < limit {
      return ExactDecimal(isNegative, digits.low, exponent)
    }
    for cut in 1...38 where digits.high < powers[cut] {
      let (quotient, rest) = powers[cut].dividingFullWidth(digits)
      guard quotient < limit else { continue }
      let isUp = rest >= powers[cut] / 2
      return ExactDecimal(isNegative, quotient + (isUp ? 1 : 0), exponent + cut)
    }
    return ExactDecimal(isNegative, 0, 0)
  }

  /// Returns the quotient, or `nil` for a division by zero.
  func divided(by other: ExactDecimal) -> ExactDecimal? {
    guard other.significand != 0 else { return nil }
    if significand == 0 { return self }
    var (dividend, power) = (significand, exponent - other.exponent)
    while dividend < Self.powers[37] {
      dividend *= 10
      power -= 1
    }
    let sign = isNegative != other.isNegative
    for shift in stride(from: 38, through: 0, by: -1) {
      let (high, low) = dividend.multipliedFullWidth(by: Self.powers[shift])
      guard high < other.significand else { continue }
      let (quotient, rest) = other.significand.dividingFullWidth((high, low))
      guard quotient < Self.limit else { continue }
      let isUp = rest >= other.significand - rest
      return ExactDecimal(sign, quotient + (isUp ? 1 : 0), power - shift)
    }
    return nil
  }

  /// Returns the remainder of a division, with the sign of the dividend, or `nil` for a division by
  /// zero.
  func remainder(dividingBy other: ExactDecimal) -> ExactDecimal? {
    guard other.significand != 0 else { return nil }
    var divisor = other.significand
    var power = exponent - other.exponent
    // Aligns a divisor with a higher exponent. If it exceeds 38 digits, it is greater than the
    // dividend.
    while power < 0 {
      guard divisor < Self.powers[37] else { return self }
      divisor *= 10
      power += 1
    }
    var rest = significand % divisor
    for _ in 0..<power where rest > 0 {
      let (high, low) = rest.multipliedFullWidth(by: 10)
      rest = divisor.dividingFullWidth((high, low)).remainder
    }
    return ExactDecimal(isNegative, rest, min(exponent, other.exponent))
  }

  /// Returns the number rounded to an integer.
  func rounded(_ rule: FloatingPointRoundingRule) -> ExactDecimal {
    guard exponent < 0 else { return self }
    let isSmall = -exponent > 38
    let divisor = isSmall ? 1 : Self.powers[-exponent]
    let (quotient, rest) =
      isSmall ? (0, significand) : significand.quotientAndRemainder(dividingBy: divisor)
    let isAway: Bool
    switch rule {
    case .up: isAway = !isNegative && rest > 0
    case .down: isAway = isNegative && rest > 0
    default: isAway = false
    }
    return ExactDecimal(isNegative, quotient + (isAway ? 1 : 0), 0)
  }
}
