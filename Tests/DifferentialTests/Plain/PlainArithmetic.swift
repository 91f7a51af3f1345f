import Foundation

/// Whole numbers stay whole and become decimals beyond 64 bits; a decimal with a whole number or a
/// decimal is a decimal; where a side is floating point, so is the result. Nil for what cannot be.
enum PlainArithmetic {
  static func value(_ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue) -> PlainValue {
    switch infix {
    case .add, .subtract:
      if let moved = date(left, infix, right) { return moved }
      if infix == .add, case .text(let left) = left, case .text(let right) = right {
        return .text(left + right)
      }
      return number(left, infix, right)
    case .multiply, .divide, .modulus: return number(left, infix, right)
    case .power: return power(left, right)
    case .and, .or, .exclusiveOr, .left, .right: return bits(left, infix, right)
    case .union, .intersect, .minus: return sets(left, infix, right)
    }
  }

  static func negated(_ value: PlainValue) -> PlainValue {
    switch value {
    case .decimal(let number): .decimal(-number)
    case .double(let number): .double(-number)
    default: self.value(.integer(0), .subtract, value)
    }
  }

  // MARK: Numbers

  static func whole(_ value: PlainValue) -> Int64? {
    switch value {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): number
    default: nil
    }
  }

  static func double(_ value: PlainValue) -> Double? {
    switch value {
    case .double(let number): number
    case .decimal(let number): Double("\(number)")
    default: whole(value).map(Double.init)
    }
  }

  private static func decimal(_ value: PlainValue) -> Decimal? {
    if case .decimal(let number) = value { return number }
    return whole(value).map { Decimal($0) }
  }

  /// Nil where a floating-point result is no number.
  static func plain(_ number: Double) -> PlainValue { number.isNaN ? .null : .double(number) }

  private static func number(
    _ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue
  ) -> PlainValue {
    if let left = whole(left), let right = whole(right) {
      if right == 0, infix == .divide || infix == .modulus { return .null }
      if let result = wholes(left, infix, right) { return .integer(result) }
    }
    if let left = decimal(left), let right = decimal(right),
      let result = decimals(left, infix, right)
    {
      return result
    }
    guard let left = double(left), let right = double(right) else { return .null }
    switch infix {
    case .add: return plain(left + right)
    case .subtract: return plain(left - right)
    case .multiply: return plain(left * right)
    case .divide: return right == 0 ? .null : plain(left / right)
    default: return right == 0 ? .null : plain(left.truncatingRemainder(dividingBy: right))
    }
  }

  /// Nil beyond 64 bits.
  private static func wholes(_ left: Int64, _ infix: PlainInfix, _ right: Int64) -> Int64? {
    let (first, second) = (Int128(left), Int128(right))
    switch infix {
    case .add: return Int64(exactly: first + second)
    case .subtract: return Int64(exactly: first - second)
    case .multiply: return Int64(exactly: first * second)
    case .divide: return Int64(exactly: first / second)
    default: return Int64(exactly: first % second)
    }
  }

  /// Nil where decimals do not hold the result.
  private static func decimals(
    _ left: Decimal, _ infix: PlainInfix, _ right: Decimal
  ) -> PlainValue? {
    let result: Decimal
    switch infix {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide:
      if right.isZero { return .null }
      result = left / right
    default: return nil
    }
    return result.isNaN ? nil : .decimal(rounded(result))
  }

  /// To the 38 digits that results have, halves away from zero.
  private static func rounded(_ number: Decimal) -> Decimal {
    let parts = "\(number.magnitude)".split(separator: ".", omittingEmptySubsequences: false)
    let digits = parts.joined().drop { $0 == "0" }
    guard digits.count > 38 else { return number }
    let fraction = parts.count > 1 ? parts[1].count : 0
    var (exact, result) = (number, Decimal())
    NSDecimalRound(&result, &exact, fraction - (digits.count - 38), .plain)
    return result
  }

  private static func power(_ base: PlainValue, _ exponent: PlainValue) -> PlainValue {
    if let base = whole(base), let exponent = whole(exponent), exponent >= 0 {
      var result: Int64? = 1
      if base.magnitude <= 1 || exponent > 64 {
        let last: Int64? = base == -1 && exponent % 2 == 0 ? 1 : base
        result = exponent == 0 ? 1 : (base.magnitude <= 1 ? last : nil)
      } else {
        for _ in 0..<exponent { result = result.flatMap { wholes($0, .multiply, base) } }
      }
      if let result { return .integer(result) }
    }
    guard let base = double(base), let exponent = double(exponent) else { return .null }
    return plain(pow(base, exponent))
  }

  // MARK: Dates

  private static func date(
    _ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue
  ) -> PlainValue? {
    switch (left, right) {
    case (.date(let left), .date(let right)):
      return infix == .subtract ? .double(left - right) : .null
    case (.date(let date), _):
      guard let seconds = double(right) else { return .null }
      let moved = infix == .add ? date + seconds : date - seconds
      return moved.isFinite ? .date(moved) : .null
    case (_, .date(let date)):
      guard infix == .add, let seconds = double(left) else { return .null }
      return (date + seconds).isFinite ? .date(date + seconds) : .null
    default: return nil
    }
  }

  // MARK: Bits

  static func bits(_ value: PlainValue) -> Int64? {
    switch value {
    case .double(let number): Int64(exactly: number)
    case .decimal(let number): Int64("\(number)")
    default: whole(value)
    }
  }

  private static func bits(
    _ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue
  ) -> PlainValue {
    guard let left = bits(left), let right = bits(right) else { return .null }
    switch infix {
    case .and: return .integer(left & right)
    case .or: return .integer(left | right)
    case .exclusiveOr: return .integer(left ^ right)
    case .left: return .integer(shift(left, Int128(right)))
    default: return .integer(shift(left, -Int128(right)))
    }
  }

  /// To the left by a positive number of bits.
  private static func shift(_ number: Int64, _ count: Int128) -> Int64 {
    if count >= 64 { return 0 }
    if count <= -64 { return number < 0 ? -1 : 0 }
    return count >= 0 ? number << Int64(count) : number >> Int64(-count)
  }

  // MARK: Sets

  private static func sets(
    _ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue
  ) -> PlainValue {
    guard case .list(let left) = left, case .list(let right) = right else { return .null }
    func isInRight(_ value: PlainValue) -> Bool {
      right.contains { $0.compared(to: value) == 0 }
    }
    switch infix {
    case .union: return .list(PlainStatistics.distinct(left + right))
    case .intersect: return .list(PlainStatistics.distinct(left.filter(isInRight)))
    default: return .list(PlainStatistics.distinct(left.filter { !isInRight($0) }))
    }
  }
}
