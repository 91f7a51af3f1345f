import Foundation

/// The arithmetic of predicates. Integers stay integers and become decimals beyond 64 bits. If
/// either operand is a decimal, so is the result; otherwise, if either is floating-point, so is the
/// result. Undefined results are null.
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
    switch value {
    case .decimal(let number): return number
    case .double(let number):
      // Other magnitudes are outside the range of decimals, or so small that their digits don't
      // fit.
      guard number == 0 || (1e-110...1e150).contains(number.magnitude) else { return nil }
      if let whole = Int64(exactly: number) { return Decimal(whole) }
      return Decimal(string: "\(number)")
    default: return whole(value).map { Decimal($0) }
    }
  }

  /// Evaluates arithmetic on constants exactly and rounds once; returns `nil` for other terms.
  static func exact(_ term: PlainTerm) -> PlainValue? {
    guard let leaves = leaves(term), leaves.contains(where: isDouble) else { return nil }
    guard leaves.allSatisfy({ !isDouble($0) || decimal($0) != nil }) else { return nil }
    let value = value(exactly: term)
    guard case .decimal(let number) = value else { return value }
    return leaves.contains(where: isDecimal) ? value : .double(Double("\(number)") ?? .nan)
  }

  private static func isDouble(_ value: PlainValue) -> Bool {
    if case .double = value { true } else { false }
  }

  private static func isDecimal(_ value: PlainValue) -> Bool {
    if case .decimal = value { true } else { false }
  }

  /// Returns the constants of arithmetic, or `nil` for any other term.
  private static func leaves(_ term: PlainTerm) -> [PlainValue]? {
    switch term {
    case .constant(let value): return [value]
    case .prefix(.negate, let inner): return leaves(inner)
    case .infix(let left, let infix, let right):
      guard [.add, .subtract, .multiply, .divide, .modulus].contains(infix),
        let left = leaves(left), let right = leaves(right)
      else { return nil }
      return left + right
    default: return nil
    }
  }

  private static func value(exactly term: PlainTerm) -> PlainValue {
    switch term {
    case .constant(let value):
      isDouble(value) ? decimal(value).map(PlainValue.decimal) ?? .null : value
    case .prefix(_, let inner): negated(value(exactly: inner))
    case .infix(let left, let infix, let right):
      value(value(exactly: left), infix, value(exactly: right))
    default: .null
    }
  }

  /// Returns null if a floating-point result is NaN.
  static func plain(_ number: Double) -> PlainValue { number.isNaN ? .null : .double(number) }

  private static func number(
    _ left: PlainValue, _ infix: PlainInfix, _ right: PlainValue
  ) -> PlainValue {
    if let left = whole(left), let right = whole(right) {
      if right == 0, infix == .divide || infix == .modulus { return .null }
      if let result = wholes(left, infix, right) { return .integer(result) }
    }
    let isExact = !isDouble(left) && !isDouble(right) || isDecimal(left) || isDecimal(right)
    if isExact, let left = decimal(left), let right = decimal(right),
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

  /// Returns `nil` if the result exceeds 64 bits.
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

  /// Returns `nil` if the result exceeds the range of decimals.
  private static func decimals(
    _ left: Decimal, _ infix: PlainInfix, _ right: Decimal
  ) -> PlainValue? {
    let result: Decimal
    switch infix {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide:
      return right.isZero ? .null : quotient(left, right).map(PlainValue.decimal)
    default: return nil
    }
    return result.isNaN ? nil : .decimal(rounded(result))
  }

  /// Returns the quotient to 38 digits, halves rounded away from zero, by long division, because
  /// Foundation's has fewer digits for some operands. Returns `nil` if a `Decimal` cannot represent
  /// the exponent.
  private static func quotient(_ left: Decimal, _ right: Decimal) -> Decimal? {
    let (dividend, divisor) = (digits(of: left), digits(of: right))
    var exponent = dividend.exponent - divisor.exponent
    var (quotient, rest, taken) = ([Int](), [Int](), 0)
    while taken < dividend.digits.count || !rest.isEmpty && quotient.count < 39 {
      let isBehindTheEnd = taken >= dividend.digits.count
      rest.append(isBehindTheEnd ? 0 : dividend.digits[taken])
      rest.removeFirst(rest.prefix { $0 == 0 }.count)
      if isBehindTheEnd { exponent -= 1 }
      taken += 1
      var digit = 0
      while rest.count != divisor.digits.count
        ? rest.count > divisor.digits.count
        : !rest.lexicographicallyPrecedes(divisor.digits)
      {
        rest = difference(rest, divisor.digits)
        digit += 1
      }
      if !quotient.isEmpty || digit > 0 { quotient.append(digit) }
    }
    if quotient.count > 38 {
      let isUp = quotient[38] >= 5
      exponent += quotient.count - 38
      quotient.removeSubrange(38...)
      if isUp { quotient = sum(quotient, 1) }
    }
    while quotient.last == 0 {
      quotient.removeLast()
      exponent += 1
    }
    guard !quotient.isEmpty else { return 0 }
    guard (-128...127).contains(exponent) else { return nil }
    let sign = left.isSignMinus == right.isSignMinus ? "" : "-"
    return Decimal(string: sign + quotient.map(String.init).joined() + "e\(exponent)")
  }

  /// Returns the digits of a number without sign and leading zeros, and the power of ten of the
  /// last one.
  private static func digits(of number: Decimal) -> (digits: [Int], exponent: Int) {
    let parts = "\(number.magnitude)".split(separator: ".")
    let digits = parts.joined().compactMap(\.wholeNumberValue)
    return (Array(digits.drop { $0 == 0 }), parts.count > 1 ? -parts[1].count : 0)
  }

  /// Subtracts digits from those of a number that is not less; the result has no leading zeros.
  private static func difference(_ left: [Int], _ right: [Int]) -> [Int] {
    var (result, borrowed) = (left, 0)
    for position in left.indices.reversed() {
      let other = position - (left.count - right.count)
      let digit = left[position] - borrowed - (other >= 0 ? right[other] : 0)
      borrowed = digit < 0 ? 1 : 0
      result[position] = digit + 10 * borrowed
    }
    return Array(result.drop { $0 == 0 })
  }

  /// Adds a single-digit number to digits.
  private static func sum(_ digits: [Int], _ number: Int) -> [Int] {
    var (result, carried) = (digits, number)
    for position in digits.indices.reversed() {
      let digit = digits[position] + carried
      (carried, result[position]) = digit.quotientAndRemainder(dividingBy: 10)
    }
    return carried > 0 ? [carried] + result : result
  }

  /// Rounds to the 38 digits that results have, halves away from zero.
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

  /// Shifts to the left by a positive number of bits, to the right by a negative one.
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
