/// An aggregate of a group while its objects come one after another.
package enum GroupFigure: Sendable {
  case rows(Int)
  case summary(ValueSummary, Aggregate.Function)

  package init(_ aggregate: RowPlan.GroupAggregate) {
    guard aggregate.expression != nil else {
      self = .rows(0)
      return
    }
    self = .summary(
      ValueSummary(
        isDistinct: aggregate.isDistinct, keepsValues: aggregate.function.takesAllValues),
      aggregate.function)
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
    }
  }

  package var value: Value {
    switch self {
    case .rows(let count): .integer(Int64(count))
    case .summary(let summary, let function): summary.value(of: function)
    }
  }
}
