internal import ArborFoundation

/// The values of a numeric field that satisfy a comparison with constants: none, or a closed
/// interval. Intervals never contain `nil`.
///
/// Constants of any numeric type are converted to the field's type without crossing a value that
/// the field can represent: for an integer field, `x < 2.5` is `x <= 2`, and `x == 2.5` is empty.
enum NumericInterval<Number: Comparable & Sendable>: Equatable, Sendable {
  case none
  case closed(Number, Number)

  func intersection(_ other: Self) -> Self {
    guard case .closed(let lower, let upper) = self,
      case .closed(let otherLower, let otherUpper) = other
    else { return .none }
    return .make(max(lower, otherLower), min(upper, otherUpper))
  }

  static func make(_ lower: Number?, _ upper: Number?) -> Self {
    guard let lower, let upper, lower <= upper else { return .none }
    return .closed(lower, upper)
  }
}

/// The numbers that a field can represent.
protocol NumericDomain {
  associatedtype Number: Comparable & Sendable
  static var least: Number { get }
  static var greatest: Number { get }
  /// Returns the next greater number, or `nil` for the greatest.
  static func successor(of number: Number) -> Number?
  static func predecessor(of number: Number) -> Number?
  /// Returns the greatest number that is not above a constant, and the least that is not below it.
  /// Either is `nil` if it doesn't exist, and both are `nil` for a constant that has no position
  /// among the numbers.
  static func neighbours(of constant: PropertyValue) -> (below: Number?, above: Number?)
}

extension NumericDomain {
  /// Returns the interval that satisfies a comparison with a constant. For `BETWEEN`, the constant
  /// is a list of two bounds.
  static func interval(
    _ comparison: ComparisonOperator, _ constant: PropertyValue
  ) -> NumericInterval<Number> {
    if comparison == .between {
      guard case .list(let bounds) = constant, bounds.count == 2 else { return .none }
      return interval(.greaterOrEqual, bounds[0])
        .intersection(interval(.lessOrEqual, bounds[1]))
    }
    guard constant.isOrderedNumber else { return .none }
    let (below, above) = neighbours(of: constant)
    switch comparison {
    case .equal: return below == above ? .make(below, above) : .none
    case .less: return above.map { .make(least, predecessor(of: $0)) } ?? .make(least, greatest)
    case .lessOrEqual: return .make(least, below)
    case .greater: return below.map { .make(successor(of: $0), greatest) } ?? .make(least, greatest)
    case .greaterOrEqual: return .make(above, greatest)
    default: return .none
    }
  }
}

extension PropertyValue {
  /// Whether the value is a number other than NaN.
  fileprivate var isOrderedNumber: Bool {
    switch self {
    case .boolean, .integer: true
    case .double(let number): !number.isNaN
    case .decimal(let number): !number.isNaN
    default: false
    }
  }
}

/// 64-bit integers. Narrower fields represent a subset of them.
enum WholeNumbers: NumericDomain {
  static let least = Int64.min
  static let greatest = Int64.max

  static func successor(of number: Int64) -> Int64? { number == .max ? nil : number + 1 }
  static func predecessor(of number: Int64) -> Int64? { number == .min ? nil : number - 1 }

  static func neighbours(of constant: PropertyValue) -> (below: Int64?, above: Int64?) {
    switch constant {
    case .boolean(let flag): return (flag ? 1 : 0, flag ? 1 : 0)
    case .integer(let number): return (number, number)
    case .double(let number): return neighbours(of: number)
    case .decimal(let number): return neighbours(of: number)
    default: return (nil, nil)
    }
  }

  private static func neighbours(of number: Double) -> (below: Int64?, above: Int64?) {
    if number >= 0x1p63 { return (.max, nil) }
    if number < -0x1p63 { return (nil, .min) }
    return (Int64(number.rounded(.down)), Int64(exactly: number.rounded(.up)))
  }

  private static func neighbours(of number: Decimal) -> (below: Int64?, above: Int64?) {
    if number > Decimal(Int64.max) { return (.max, nil) }
    if number < Decimal(Int64.min) { return (nil, .min) }
    let whole = number.truncated
    return (
      Int64((whole > number ? whole - 1 : whole).description),
      Int64((whole < number ? whole + 1 : whole).description)
    )
  }
}

/// 64-bit floating-point numbers. The infinities are the least and the greatest.
enum DoubleNumbers: NumericDomain {
  static let least = -Double.infinity
  static let greatest = Double.infinity

  static func successor(of number: Double) -> Double? { number >= greatest ? nil : number.nextUp }
  static func predecessor(of number: Double) -> Double? { number <= least ? nil : number.nextDown }

  static func neighbours(of constant: PropertyValue) -> (below: Double?, above: Double?) {
    let near: Double
    switch constant {
    case .boolean(let flag): near = flag ? 1 : 0
    case .integer(let number): near = Double(number)
    case .double(let number): near = number
    case .decimal(let number): near = Double(number.description) ?? 0
    default: return (nil, nil)
    }
    switch NumberOrdering.compare(.double(near), constant) {
    case .equal: return (near, near)
    case .less: return (near, successor(of: near))
    case .greater: return (predecessor(of: near), near)
    }
  }
}

/// 32-bit floating-point numbers, represented as 64-bit ones.
enum FloatNumbers: NumericDomain {
  static let least = -Double.infinity
  static let greatest = Double.infinity

  static func successor(of number: Double) -> Double? {
    number >= greatest ? nil : Double(Float(number).nextUp)
  }

  static func predecessor(of number: Double) -> Double? {
    number <= least ? nil : Double(Float(number).nextDown)
  }

  static func neighbours(of constant: PropertyValue) -> (below: Double?, above: Double?) {
    let (below, above) = DoubleNumbers.neighbours(of: constant)
    return (below.flatMap(roundedDown), above.flatMap(roundedUp))
  }

  private static func roundedDown(_ number: Double) -> Double? {
    let near = Double(Float(number))
    return near <= number ? near : predecessor(of: near)
  }

  private static func roundedUp(_ number: Double) -> Double? {
    let near = Double(Float(number))
    return near >= number ? near : successor(of: near)
  }
}

/// Points in time, as seconds since 2001-01-01 UTC.
enum DateSeconds {
  static func interval(
    _ comparison: ComparisonOperator, _ constant: PropertyValue
  ) -> NumericInterval<Double> {
    switch constant {
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      return DoubleNumbers.interval(comparison, .double(seconds))
    case .list(let bounds) where comparison == .between && bounds.count == 2:
      return interval(.greaterOrEqual, bounds[0]).intersection(interval(.lessOrEqual, bounds[1]))
    default: return .none
    }
  }
}

extension FieldKind {
  /// Returns the interval of a floating-point or date field that satisfies a comparison with a
  /// constant.
  func realInterval(
    _ comparison: ComparisonOperator, _ constant: PropertyValue
  ) -> NumericInterval<Double> {
    if self == .date { return DateSeconds.interval(comparison, constant) }
    return width == 4
      ? FloatNumbers.interval(comparison, constant) : DoubleNumbers.interval(comparison, constant)
  }
}
