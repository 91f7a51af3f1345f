internal import Foundation

/// Decides which expressions no record changes.
struct PredicateConstants {
  let arguments: [PropertyValue]
  /// The one instant that a whole fetch takes for the present; nil while it is not known, where
  /// `now()` is no constant.
  var now: Date?
  /// What the values of calls may take together. An expression beyond that counts as no constant:
  /// it is computed when records are evaluated, where limits apply.
  var room = ConstantRoom()

  /// The value of an expression that is the same for every record; nil for others.
  func value(of expression: BoundExpression) -> PropertyValue? {
    switch expression {
    case .constant(let value): return value
    // A predicate carries an argument for each that its shape names.
    case .argument(let index): return index < arguments.count ? arguments[index] : .null
    case .list(let elements): return values(of: elements).map(PropertyValue.list)
    case .call(.random, _), .call(.randomn, _), .call(.noindex, _): return nil
    case .call(.now, _): return now.map(PropertyValue.date)
    case .call(let function, _) where function.isArithmetic: return arithmetic(expression)?.value
    case .call(let function, let operands):
      guard let operands = values(of: operands) else { return nil }
      return room.value(of: function, operands, now: now ?? .distantPast)
    case .cast(let base, let type): return value(of: base).map(type.cast)
    case .union(let union, let base): return value(of: base).map(union.value)
    case .element(let base, let position):
      guard let base = value(of: base) else { return nil }
      switch position {
      case .first: return base.element(.first)
      case .last: return base.element(.last)
      case .at(let index): return value(of: index).map { base.element(.at($0)) }
      }
    case .path, .collection, .each, .follow, .custom, .ternary, .subquery, .filter, .slot, .part,
      .decoded:
      return nil
    }
  }

  /// The value of arithmetic on constants.
  private func arithmetic(_ expression: BoundExpression) -> ConstantArithmetic? {
    guard case .call(let function, let operands) = expression, function.isArithmetic else {
      return value(of: expression).map(ConstantArithmetic.init)
    }
    var values: [ConstantArithmetic] = []
    for operand in operands {
      guard let value = arithmetic(operand) else { return nil }
      values.append(value)
    }
    return ConstantArithmetic(function, values)
  }

  private func values(of elements: [BoundExpression]) -> [PropertyValue]? {
    var values: [PropertyValue] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      guard let value = value(of: element) else { return nil }
      values.append(value)
    }
    return values
  }
}

/// How much may be kept of computed constants.
final class ConstantRoom {
  private var left: Int

  init(_ size: Int = 256 << 10) { left = size }

  /// A function's value; nil if there is no room for it.
  fileprivate func value(
    of function: PredicateFunction, _ operands: [PropertyValue], now: Date
  ) -> PropertyValue? {
    guard let value = function.value(of: operands, now: now, most: left) else { return nil }
    left -= value.size
    return value
  }
}

extension PropertyValue {
  enum Position {
    case first, last
    case at(PropertyValue)
  }

  /// An element of a list, by its index, or a part of a composite, by its name; nil where there is
  /// none.
  func element(_ position: Position) -> PropertyValue {
    switch (self, position) {
    case (.list(let elements), .first): return elements.first ?? .null
    case (.list(let elements), .last): return elements.last ?? .null
    case (.list(let elements), .at(let index)):
      guard case .integer(let index) = index, index >= 0, index < elements.count else {
        return .null
      }
      return elements[Int(index)]
    case (.composite(let parts), .at(.string(let name))): return parts[name] ?? .null
    default: return .null
    }
  }
}

/// The value of arithmetic on constants. With fractions it is computed exactly and rounded once, so
/// that `0.1 + 0.2` is 0.3.
private struct ConstantArithmetic {
  private let plain: PropertyValue
  /// The value if every fraction is a decimal; nil beyond what decimals hold.
  private let exact: PropertyValue?
  private let hasFractions: Bool
  private let hasDecimals: Bool

  init(_ value: PropertyValue) {
    plain = value
    switch value {
    case .double(let number):
      exact =
        number.isFinite
        ? DecimalDigits(number).decimal.map(PropertyValue.decimal) : PropertyValue?.none
      (hasFractions, hasDecimals) = (true, false)
    case .decimal: (exact, hasFractions, hasDecimals) = (value, false, true)
    default: (exact, hasFractions, hasDecimals) = (value, false, false)
    }
  }

  init(_ function: PredicateFunction, _ operands: [ConstantArithmetic]) {
    plain = function.value(of: operands.map(\.plain), now: .distantPast)
    let exact = operands.compactMap(\.exact)
    // Not `nil`, which beside a `PropertyValue` would be the null value.
    self.exact =
      exact.count == operands.count
      ? function.value(of: exact, now: .distantPast) : PropertyValue?.none
    hasFractions = operands.contains(where: \.hasFractions)
    hasDecimals = operands.contains(where: \.hasDecimals)
  }

  var value: PropertyValue {
    guard hasFractions, let exact else { return plain }
    guard case .decimal(let number) = exact, !hasDecimals else { return exact }
    return .double(number.approximation)
  }
}

extension PredicateFunction {
  fileprivate var isArithmetic: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .modulus, .negate: true
    default: false
    }
  }
}
