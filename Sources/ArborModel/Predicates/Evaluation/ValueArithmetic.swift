internal import Foundation

/// Arithmetic on values.
///
/// - Whole numbers stay whole; where a result exceeds 64 bits it is a decimal, which is exact.
/// - A decimal with a whole number or a decimal gives a decimal; where that exceeds what decimals
///   hold, and wherever a side is floating point, the result is floating point.
/// - A whole number divided by a whole number is whole, its fraction cut off. Division by zero is
///   nil, and so is every result that is no number.
/// - A date plus or minus a number of seconds is a date; a date minus a date is a number.
/// - Nil, and what is neither number nor date, gives nil.
enum ValueArithmetic {
  /// The numbers that an operation is carried out on.
  private enum Pair {
    case whole(Int64, Int64)
    case decimal(Decimal, Decimal)
    case double(Double, Double)

    init?(_ left: Value, _ right: Value) {
      switch (left, right) {
      case (.integer(let left), .integer(let right)): self = .whole(left, right)
      case (.double(let left), .double(let right)): self = .double(left, right)
      default:
        if let left = left.wholeNumber, let right = right.wholeNumber {
          self = .whole(left, right)
        } else if let left = left.exactDecimal, let right = right.exactDecimal {
          self = .decimal(left, right)
        } else if let left = left.double, let right = right.double {
          self = .double(left, right)
        } else {
          return nil
        }
      }
    }
  }

  static func add(_ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.date(let date), let number), (let number, .date(let date)):
      return Self.date(date, plus: number.double)
    default: break
    }
    switch Pair(left, right) {
    case .whole(let left, let right):
      let (sum, overflows) = left.addingReportingOverflow(right)
      return overflows ? decimal(left, right, NSDecimalAdd) : .integer(sum)
    case .decimal(let left, let right): return decimal(left, right, NSDecimalAdd, +)
    case .double(let left, let right): return number(left + right)
    case nil: return .null
    }
  }

  static func subtract(_ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.date(let left), .date(let right)):
      return number(left.timeIntervalSinceReferenceDate - right.timeIntervalSinceReferenceDate)
    case (.date(let date), let number): return Self.date(date, plus: number.double.map(-))
    default: break
    }
    switch Pair(left, right) {
    case .whole(let left, let right):
      let (difference, overflows) = left.subtractingReportingOverflow(right)
      return overflows ? decimal(left, right, NSDecimalSubtract) : .integer(difference)
    case .decimal(let left, let right): return decimal(left, right, NSDecimalSubtract, -)
    case .double(let left, let right): return number(left - right)
    case nil: return .null
    }
  }

  static func multiply(_ left: Value, _ right: Value) -> Value {
    switch Pair(left, right) {
    case .whole(let left, let right):
      let (product, overflows) = left.multipliedReportingOverflow(by: right)
      return overflows ? decimal(left, right, NSDecimalMultiply) : .integer(product)
    case .decimal(let left, let right): return decimal(left, right, NSDecimalMultiply, *)
    case .double(let left, let right): return number(left * right)
    case nil: return .null
    }
  }

  static func divide(_ left: Value, _ right: Value) -> Value {
    switch Pair(left, right) {
    case .whole(_, 0): return .null
    case .whole(let left, let right):
      let (quotient, overflows) = left.dividedReportingOverflow(by: right)
      return overflows ? .decimal(Decimal(left.magnitude)) : .integer(quotient)
    case .decimal(let left, let right):
      return right.isZero ? .null : decimal(left, right, NSDecimalDivide, /)
    case .double(let left, let right): return right == 0 ? .null : number(left / right)
    case nil: return .null
    }
  }

  /// What a division leaves over; it has the sign of what is divided.
  static func modulus(_ left: Value, _ right: Value) -> Value {
    switch Pair(left, right) {
    case .whole(_, 0): return .null
    case .whole(let left, let right):
      return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
    case .decimal(let left, let right):
      if right.isZero { return .null }
      if let rest = remainder(left.magnitude, right.magnitude) {
        return .decimal(left.sign == .minus ? -rest : rest)
      }
    case .double(let left, let right):
      return right == 0 ? .null : number(left.truncatingRemainder(dividingBy: right))
    case nil: return .null
    }
    guard let left = left.double, let right = right.double, right != 0 else { return .null }
    return number(left.truncatingRemainder(dividingBy: right))
  }

  /// A power. Of whole numbers it is whole while it fits; all others are floating point.
  static func power(_ base: Value, _ exponent: Value) -> Value {
    if let base = base.wholeNumber, let exponent = exponent.wholeNumber, exponent >= 0,
      let power = power(base, exponent)
    {
      return .integer(power)
    }
    guard let base = base.double, let exponent = exponent.double else { return .null }
    return number(pow(base, exponent))
  }

  static func negate(_ value: Value) -> Value {
    switch value {
    case .decimal(let number): number.isNaN ? .null : .decimal(-number)
    case .double(let number): self.number(-number)
    default: subtract(.integer(0), value)
    }
  }

  /// A floating-point result; nil where it is no number.
  static func number(_ number: Double) -> Value { number.isNaN ? .null : .double(number) }

  // MARK: Parts

  private static func date(_ date: Date, plus seconds: Double?) -> Value {
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

  private typealias DecimalOperation = (
    UnsafeMutablePointer<Decimal>, UnsafePointer<Decimal>, UnsafePointer<Decimal>,
    NSDecimalNumber.RoundingMode
  ) -> NSDecimalNumber.CalculationError

  /// Sums, differences and products of whole numbers always have a place among decimals.
  private static func decimal(
    _ left: Int64, _ right: Int64, _ operation: DecimalOperation
  ) -> Value {
    decimal(Decimal(left), Decimal(right), operation) { _, _ in .nan }
  }

  private static func decimal(
    _ left: Decimal, _ right: Decimal, _ operation: DecimalOperation,
    _ beyond: (Double, Double) -> Double
  ) -> Value {
    var (left, right, result) = (left, right, Decimal())
    switch operation(&result, &left, &right, .plain) {
    case .noError, .lossOfPrecision:
      if !result.isNaN { return .decimal(result) }
    default: break
    }
    guard let left = Value.decimal(left).double, let right = Value.decimal(right).double else {
      return .null
    }
    return number(beyond(left, right))
  }

  /// What a division of decimals above 0 leaves over; nil where the quotient is beyond what decimals
  /// hold exactly.
  private static func remainder(_ left: Decimal, _ right: Decimal) -> Decimal? {
    var (left, right, quotient, whole) = (left, right, Decimal(), Decimal())
    guard NSDecimalDivide(&quotient, &left, &right, .down) != .overflow, !quotient.isNaN else {
      return nil
    }
    NSDecimalRound(&whole, &quotient, 0, .down)
    guard case .decimal(let part) = multiply(.decimal(whole), .decimal(right)),
      case .decimal(let rest) = subtract(.decimal(left), .decimal(part)),
      rest.sign == .plus, rest < right
    else { return nil }
    return rest
  }
}

extension Value {
  /// A number that is no floating-point one, as a decimal.
  fileprivate var exactDecimal: Decimal? {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Decimal(number)
    case .decimal(let number): number.isNaN ? nil : number
    default: nil
    }
  }
}
