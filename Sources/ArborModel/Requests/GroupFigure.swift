internal import Foundation

/// An aggregate of a group while its objects come one after another.
package enum GroupFigure: Sendable {
  case rows(Int)
  case summary(ValueSummary, Aggregate.Function)
  /// What is computed of all values at once.
  case values([Value], seen: Set<[UInt8]>?, PredicateFunction)

  package init(_ aggregate: RowPlan.GroupAggregate) {
    guard aggregate.expression != nil else {
      self = .rows(0)
      return
    }
    let function: Aggregate.Function
    switch aggregate.function {
    case .count: function = .count
    case .sum: function = .sum
    case .average: function = .average
    case .min: function = .minimum
    case .max: function = .maximum
    default:
      self = .values([], seen: aggregate.isDistinct ? [] : nil, aggregate.function)
      return
    }
    self = .summary(ValueSummary(isDistinct: aggregate.isDistinct), function)
  }

  /// Adds what an object has; nil where nothing was asked of it.
  package mutating func add(_ value: Value?) {
    switch self {
    case .rows(let count): self = .rows(count + 1)
    case .summary(var summary, let function):
      // Taken out, so that what it gathers is not copied.
      self = .rows(0)
      if let value { summary.add(value) }
      self = .summary(summary, function)
    case .values(var values, var seen, let function):
      self = .rows(0)
      if let value, !value.isNull, seen?.insert(value.distinctKey).inserted ?? true {
        values.append(value)
      }
      self = .values(values, seen: seen, function)
    }
  }

  /// The aggregate.
  package var value: Value {
    switch self {
    case .rows(let count): .integer(Int64(count))
    case .summary(let summary, let function): summary.value(of: function)
    case .values(let values, _, let function):
      function.value(of: [.list(values)], now: .distantPast)
    }
  }
}
