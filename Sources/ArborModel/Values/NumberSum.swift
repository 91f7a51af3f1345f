package import Foundation

/// The sum of numbers of any type.
///
/// Whole numbers are added exactly and become a decimal where 64 bits have no room for their sum.
/// One floating-point number makes the sum one; else one decimal makes it a decimal.
package struct NumberSum: Sendable {
  // More terms than there is memory for do not fill 128 bits.
  private var whole: Int128 = 0
  private var decimals: Decimal?
  private var doubles: Double?

  package init() {}

  package mutating func add(_ number: Int64) { whole += Int128(number) }

  /// Adds the sum of several whole numbers.
  package mutating func add(_ number: Int128) { whole += number }

  package mutating func add(_ number: Double) { doubles = (doubles ?? 0) + number }

  package mutating func add(_ number: Decimal) {
    let sum = (decimals ?? 0) + number
    if sum.isNaN {
      // Beyond what a decimal holds.
      add((decimals ?? 0).approximation + number.approximation)
      decimals = nil
    } else {
      decimals = sum
    }
  }

  /// Adds a number; returns whether the value is one.
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

  /// The sum; the whole number 0 of nothing.
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

  /// The sum of infinities of both signs is null, like all that arithmetic cannot compute.
  package static func real(_ number: Double) -> PropertyValue {
    number.isNaN ? .null : .double(number)
  }

  /// The sum divided by the number of terms; null where none exist.
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
  /// A whole number of any size. Beyond 38 digits it is rounded.
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
  /// Whether this is a number's type without a number in it.
  package var isNotANumber: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }

  /// Whether the value is NaN or a date that is not finite, or contains one. No attribute stores
  /// such a value.
  package var containsNaN: Bool {
    switch self {
    case .double, .decimal: isNotANumber
    case .date(let date): !date.timeIntervalSinceReferenceDate.isFinite
    case .list(let values): values.contains(where: \.containsNaN)
    case .composite(let parts): parts.values.contains(where: \.containsNaN)
    default: false
    }
  }
}
