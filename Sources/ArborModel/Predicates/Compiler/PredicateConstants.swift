internal import ArborFoundation

/// An evaluator of expressions that don't depend on records.
struct PredicateConstants {
  let arguments: [PropertyValue]
  /// The time of the fetch, or `nil` if it isn't known yet, in which case `now()` is not constant.
  var now: Date?
  /// The remaining size for the values of calls. An expression that exceeds it is not treated as
  /// constant, but is computed during evaluation, where limits apply.
  var room = ConstantRoom()

  /// Returns the value of an expression that is the same for every record, or `nil` for any other
  /// expression.
  func value(of expression: BoundExpression) -> PropertyValue? {
    switch expression {
    case .constant(let value): return value
    // A predicate has an argument for each index in its shape.
    case .argument(let index): return index < arguments.count ? arguments[index] : .null
    case .list(let elements): return values(of: elements).map(PropertyValue.list)
    case .call(.random, _), .call(.randomn, _), .call(.noindex, _): return nil
    case .call(.now, _): return now.map(PropertyValue.date)
    case .call(let function, _) where function.isArithmetic: return arithmetic(expression)?.value
    case .call(let function, let operands):
      guard let operands = values(of: operands) else { return nil }
      return room.value(of: function, operands, now: now ?? .distantPast)
    case .cast(let base, let type):
      guard let base = value(of: base), room.admits(type.work(on: base)) else { return nil }
      return type.cast(base)
    case .union(let union, let base):
      guard let base = value(of: base), room.admits(union.work(on: base)) else { return nil }
      return union.value(of: base)
    case .element(let base, let position):
      guard let base = value(of: base) else { return nil }
      switch position {
      case .first: return base.element(.first)
      case .last: return base.element(.last)
      case .at(let index): return value(of: index).map { base.element(.at($0)) }
      }
    case .path, .collection, .each, .follow, .custom, .ternary, .subquery, .closure, .filter, .slot,
      .part, .decoded:
      return nil
    }
  }

  private func arithmetic(_ expression: BoundExpression) -> ConstantArithmetic? {
    guard case .call(let function, let operands) = expression, function.isArithmetic else {
      return value(of: expression).map(ConstantArithmetic.init)
    }
    var values: [ConstantArithmetic] = []
    for operand in operands {
      guard let value = arithmetic(operand) else { return nil }
      values.append(value)
    }
    guard room.admits(2 * function.work(on: values.map(\.plain))) else { return nil }
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

/// The remaining size and work for computed constants.
final class ConstantRoom {
  private var left: Int
  /// The remaining work.
  private(set) var work: Int
  /// Whether constants were not computed because they need too much work.
  private(set) var isExhausted = false

  init(_ size: Int = 256 << 10, work: Int = 16 << 20) { (left, self.work) = (size, work) }

  /// Counts work that is about to be done. Returns `false` if no more of it may be done.
  func admits(_ units: Int) -> Bool {
    if work == .max { return true }
    if units > work { isExhausted = true }
    if isExhausted { return false }
    work -= units
    return true
  }

  /// Returns a function's value, or `nil` if it exceeds the remaining size.
  fileprivate func value(
    of function: PredicateFunction, _ operands: [PropertyValue], now: Date
  ) -> PropertyValue? {
    guard admits(function.work(on: operands)),
      let value = function.value(of: operands, now: now, maximumSize: left)
    else { return nil }
    left -= value.size
    return value
  }
}

extension PropertyValue {
  enum Position {
    case first, last
    case at(PropertyValue)
  }

  /// Returns an element of a list by index, or a part of a composite by name. Null if it doesn't
  /// exist.
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

/// The value of constant arithmetic. Fractions are computed exactly and rounded once, so `0.1 +
/// 0.2` is 0.3.
private struct ConstantArithmetic {
  fileprivate let plain: PropertyValue
  /// The value with all fractions as decimals, or `nil` if it exceeds the range of decimals.
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
    // Not `nil`, which would be inferred as the null `PropertyValue`.
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
