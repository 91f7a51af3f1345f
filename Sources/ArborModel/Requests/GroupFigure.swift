/// An aggregate of a group while its objects come one after another.
package struct GroupFigure: Sendable {
  private var rowCount = 0
  /// nil where rows are counted, whatever they have.
  private var summary: ValueSummary?
  private let function: AggregateExpression.Function

  package init(_ aggregate: RowPlan.GroupAggregate) {
    function = aggregate.function
    guard aggregate.expression != nil else { return }
    summary = ValueSummary(
      isDistinct: aggregate.isDistinct, keepsValues: function.takesAllValues,
      keepsExtremes: function == .minimum || function == .maximum)
  }

  /// Adds what an object has; nil where nothing was asked of it.
  package mutating func add(_ value: Value?) {
    rowCount += 1
    if let value { summary?.add(value) }
  }

  package var value: Value { summary?.value(of: function) ?? .integer(Int64(rowCount)) }
}
