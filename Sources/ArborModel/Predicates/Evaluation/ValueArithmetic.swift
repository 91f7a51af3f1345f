internal import ArborFoundation

/// Arithmetic on values.
///
/// - The result for integers is an integer. If it exceeds 64 bits, it is a decimal, which is exact.
/// - A decimal combined with any other number yields a decimal; a floating-point number is
///   converted by its shortest text, as in comparisons. A result outside the range of decimals is a
///   floating-point number.
/// - Floating-point numbers, alone or combined with integers, yield a floating-point number.
/// - Integer division truncates. Division by zero is `nil`, and so is NaN.
/// - A date plus or minus a number of seconds is a date. The difference of two dates is a number of
///   seconds.
/// - The sum of two strings is their concatenation.
/// - For all other operands, including `nil`, the result is `nil`.
enum ValueArithmetic {
  /// The operands, converted to a common type.
  private enum Pair {
    case whole(Int64, Int64)
    case decimal(ExactDecimal, ExactDecimal)
    case double(Double, Double)

    init?(_ left: PropertyValue, _ right: PropertyValue) {
      switch (left, right) {
      case (.integer(let left), .integer(let right)): self = .whole(left, right)
      case (.double(let left), .double(let right)): self = .double(left, right)
      default:
        if let left = left.wholeNumber, let right = right.wholeNumber {
          self = .whole(left, right)
        } else if left.isDecimal || right.isDecimal, let left = left.exactDecimal,
          let right = right.exactDecimal
        {
          self = .decimal(left, right)
        } else if let left = left.floating, let right = right.floating {
          self = .double(left, right)
        } else {
          return nil
        }
      }
    }
  }

  static func add(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    switch (left, right) {
    case (.date(let date), let number), (let number, .date(let date)):
      return Self.date(date, plus: number.floating)
    case (.string(let left), .string(let right)): return .string(left + right)
    default: break
    }
    return combine(left, right, { $0.addingReportingOverflow($1) }, { $0.adding($1) }, +)
  }

  static func subtract(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    switch (left, right) {
    case (.date(let left), .date(let right)):
      return number(left.timeIntervalSinceReferenceDate - right.timeIntervalSinceReferenceDate)
    case (.date(let date), let number): return Self.date(date, plus: number.floating.map(-))
    default: break
    }
    return combine(
      left, right, { $0.subtractingReportingOverflow($1) }, { $0.adding($1.negated) }, -)
  }

  static func multiply(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    combine(left, right, { $0.multipliedReportingOverflow(by: $1) }, { $0.multiplied(by: $1) }, *)
  }

  static func divide(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    switch Pair(left, right) {
    case .whole(_, 0): return .null
    case .whole(let left, let right):
      let (quotient, overflows) = left.dividedReportingOverflow(by: right)
      return overflows ? .decimal(Decimal(left.magnitude)) : .integer(quotient)
    case .decimal(let one, let other):
      guard let quotient = one.divided(by: other) else { return .null }
      return decimal(quotient) ?? doubles(left, right, /)
    case .double(let left, let right): return right == 0 ? .null : number(left / right)
    case nil: return .null
    }
  }

  /// Returns the remainder of a division, with the sign of the dividend.
  static func modulus(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    switch Pair(left, right) {
    case .whole(_, 0): return .null
    case .whole(let left, let right):
      return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
    case .decimal(let one, let other):
      guard let rest = one.remainder(dividingBy: other) else { return .null }
      return decimal(rest) ?? .null
    case .double(let left, let right):
      return right == 0 ? .null : number(left.truncatingRemainder(dividingBy: right))
    case nil: return .null
    }
  }

  /// Returns a power: an integer if the operands are integers and the result fits, otherwise a
  /// floating-point number.
  static func power(_ base: PropertyValue, _ exponent: PropertyValue) -> PropertyValue {
    if let base = base.wholeNumber, let exponent = exponent.wholeNumber, exponent >= 0,
      let power = power(base, exponent)
    {
      return .integer(power)
    }
    guard let base = base.floating, let exponent = exponent.floating else { return .null }
    return number(pow(base, exponent))
  }

  static func negate(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .decimal(let number): ExactDecimal(number).flatMap { decimal($0.negated) } ?? .null
    case .double(let number): self.number(-number)
    default: subtract(.integer(0), value)
    }
  }

  /// Returns a floating-point result, or null for NaN.
  static func number(_ number: Double) -> PropertyValue { number.isNaN ? .null : .double(number) }

  // MARK: Parts

  private static func date(_ date: Date, plus seconds: Double?) -> PropertyValue {
    guard let seconds else { return .null }
    let moved = date.timeIntervalSinceReferenceDate + seconds
    return moved.isFinite ? .date(Date(timeIntervalSinceReferenceDate: moved)) : .null
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    var (result, square, rest) = (Int64(1), base, exponent)
    while rest > 0 {
      if rest & 1 == 1 {
        let (product, overflows) = result.multipliedReportingOverflow(by: square)
        if overflows { return nil }
        result = product
      }
      rest >>= 1
      if rest == 0 { break }
      let (next, overflows) = square.multipliedReportingOverflow(by: square)
      if overflows { return nil }
      square = next
    }
    return result
  }

  /// Returns a sum, a difference or a product.
  @inline(__always)
  private static func combine(
    _ left: PropertyValue, _ right: PropertyValue,
    _ whole: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    _ exact: (ExactDecimal, ExactDecimal) -> ExactDecimal, _ real: (Double, Double) -> Double
  ) -> PropertyValue {
    switch Pair(left, right) {
    case .whole(let left, let right):
      let (result, overflows) = whole(left, right)
      return overflows ? self.exact(left, right, exact) : .integer(result)
    case .decimal(let one, let other):
      return decimal(exact(one, other)) ?? doubles(left, right, real)
    case .double(let left, let right): return number(real(left, right))
    case nil: return .null
    }
  }

  /// Returns a sum, a difference or a product of integers as a decimal. The result always fits.
  private static func exact(
    _ left: Int64, _ right: Int64, _ operation: (ExactDecimal, ExactDecimal) -> ExactDecimal
  ) -> PropertyValue {
    guard let left = ExactDecimal(Decimal(left)), let right = ExactDecimal(Decimal(right)) else {
      return .null
    }
    return decimal(operation(left, right)) ?? .null
  }

  /// Returns a number as a decimal, or `nil` if it exceeds the range of decimals.
  private static func decimal(_ number: ExactDecimal) -> PropertyValue? {
    number.decimal.map(PropertyValue.decimal)
  }

  private static func doubles(
    _ left: PropertyValue, _ right: PropertyValue, _ operation: (Double, Double) -> Double
  ) -> PropertyValue {
    guard let left = left.floating, let right = right.floating else { return .null }
    return number(operation(left, right))
  }
}

extension PropertyValue {
  fileprivate var isDecimal: Bool { if case .decimal = self { true } else { false } }

  /// The number as an exact decimal, or `nil` if it cannot be represented as one.
  fileprivate var exactDecimal: ExactDecimal? {
    switch self {
    case .boolean(let flag): ExactDecimal(flag ? 1 : 0)
    case .integer(let number): ExactDecimal(Decimal(number))
    case .decimal(let number): ExactDecimal(number)
    case .double(let number) where number.isFinite:
      DecimalDigits(number).decimal.flatMap { ExactDecimal($0) }
    default: nil
    }
  }
}
