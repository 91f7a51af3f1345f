internal import Foundation

/// Decides which expressions no record changes.
struct PredicateConstants {
  let arguments: [Value]
  /// The one instant that a whole fetch takes for the present; nil while it is not known, where
  /// `now()` is no constant.
  var now: Date?
  /// What the values of calls may take together. An expression beyond that counts as no constant:
  /// it is computed when records are evaluated, where limits apply.
  var room = ConstantRoom()

  /// The value of an expression that is the same for every record; nil for others.
  func value(of expression: BoundExpression) -> Value? {
    switch expression {
    case .constant(let value): return value
    // A predicate carries an argument for each that its shape names.
    case .argument(let index): return index < arguments.count ? arguments[index] : .null
    case .list(let elements): return values(of: elements).map(Value.list)
    case .call(.random, _), .call(.randomn, _), .call(.noindex, _): return nil
    case .call(.now, _): return now.map(Value.date)
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

  private func values(of elements: [BoundExpression]) -> [Value]? {
    var values: [Value] = []
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
    of function: PredicateFunction, _ operands: [Value], now: Date
  ) -> Value? {
    guard let value = function.value(of: operands, now: now, most: left) else { return nil }
    left -= value.size
    return value
  }
}

extension Value {
  enum Position {
    case first, last
    case at(Value)
  }

  /// An element of a list, by its index, or a part of a composite, by its name; nil where there is
  /// none.
  func element(_ position: Position) -> Value {
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
