package import ArborFoundation

/// A sum of numbers of any type.
///
/// Integers are added exactly, and a sum that exceeds 64 bits becomes a decimal. If any term is a
/// floating-point number, so is the sum. Otherwise, if any term is a decimal, so is the sum.
package struct NumberSum: Sendable {
  // 128 bits cannot overflow: memory is exhausted first.
  private var whole: Int128 = 0
  private var decimals: Decimal?
  private var doubles: Double?

  package init() {}

  package mutating func add(_ number: Int64) { whole += Int128(number) }

  package mutating func add(_ number: Int128) { whole += number }

  package mutating func add(_ number: Double) { doubles = (doubles ?? 0) + number }

  package mutating func add(_ number: Decimal) {
    let sum = (decimals ?? 0) + number
    if sum.isNaN {
      // The sum exceeds the range of `Decimal`.
      add((decimals ?? 0).approximation + number.approximation)
      decimals = nil
    } else {
      decimals = sum
    }
  }

  /// Adds a value. Returns `false` if it is not a number.
  @discardableResult
  package mutating func add(_ value: PropertyValue) -> Bool {
    switch value {
    case .boolean(let flag): add(Int64(flag ? 1 : 0))
    case .integer(let number): add(number)
    case .double(let number): add(number)
    case .decimal(let number): add(number)
    default: return false
    }
    return true
  }

  /// The sum, or the integer 0 if nothing was added.
  package var value: PropertyValue {
    if let doubles {
      return Self.real(doubles + Double(whole) + (decimals?.approximation ?? 0))
    }
    let exact = Int64(exactly: whole)
    guard let decimals else {
      return exact.map(PropertyValue.integer) ?? .decimal(Decimal(whole: whole))
    }
    return .decimal(decimals + Decimal(whole: whole))
  }

  /// Returns a floating-point number, or null for NaN, such as the sum of infinities of both signs.
  package static func real(_ number: Double) -> PropertyValue {
    number.isNaN ? .null : .double(number)
  }

  /// Returns the sum divided by the number of terms, or null for no terms.
  package func average(of count: Int) -> PropertyValue {
    guard count > 0 else { return .null }
    if let doubles {
      return Self.real((doubles + Double(whole) + (decimals?.approximation ?? 0)) / Double(count))
    }
    guard let decimals else { return .double(Double(whole) / Double(count)) }
    return .decimal((decimals + Decimal(whole: whole)) / Decimal(count))
  }
}

extension Decimal {
  /// Creates a decimal from an integer of any size, rounded beyond 38 digits.
  fileprivate init(whole: Int128) {
    if let small = Int64(exactly: whole) {
      self = Decimal(small)
    } else {
      self = Decimal(string: whole.description, locale: nil) ?? .nan
    }
  }

  /// The nearest floating-point number.
  package var approximation: Double { Double(description) ?? .nan }
}

extension PropertyValue {
  package var isNotANumber: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }

  /// Whether the value is or contains a NaN or a date that is not finite, which attributes cannot
  /// store.
  package var containsNaN: Bool {
    switch self {
    case .double, .decimal: isNotANumber
    case .date(let date): !date.timeIntervalSinceReferenceDate.isFinite
    case .list(let values): Self.containNaN(values)
    case .composite(let parts): Self.containNaN(Array(parts.values))
    default: false
    }
  }

  /// Not recursive, because a value may be nested more deeply than the stack allows.
  private static func containNaN(_ values: [PropertyValue]) -> Bool {
    var rest = values
    while let value = rest.popLast() {
      switch value {
      case .list(let values): rest += values
      case .composite(let parts): rest += parts.values
      default: if value.containsNaN { return true }
      }
    }
    return false
  }
}
