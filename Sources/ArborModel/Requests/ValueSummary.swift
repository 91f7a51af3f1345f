internal import ArborFoundation

/// An accumulator of values for computing aggregates.
package struct ValueSummary: Sendable {
  /// The number of values that aren't null.
  package private(set) var count = 0
  private var sum = NumberSum()
  private var summands = 0
  private var dates = 0.0
  private var dateCount = 0
  private let keepsExtremes: Bool
  private var least = PropertyValue.null
  private var greatest = PropertyValue.null
  private var seen: Set<DistinctValue>?
  /// All values, for functions that need them at once, or `nil` if they aren't kept.
  private var values: [PropertyValue]?

  /// - Parameters:
  ///   - isDistinct: Whether duplicate values are ignored.
  ///   - keepsValues: Whether to support functions with
  ///     ``AggregateExpression/Function/takesAllValues``.
  ///   - keepsExtremes: Whether to support minimums and maximums, which requires comparing each
  ///     value.
  package init(isDistinct: Bool = false, keepsValues: Bool = false, keepsExtremes: Bool = true) {
    self.keepsExtremes = keepsExtremes
    seen = isDistinct ? [] : nil
    values = keepsValues ? [] : nil
  }

  package mutating func add(_ value: PropertyValue) {
    // NaN has no position in an order and adds nothing to a sum.
    guard !value.isNull, !value.isNotANumber else { return }
    if seen != nil, seen?.insert(DistinctValue(value)).inserted == false { return }
    count += 1
    values?.append(value)
    if case .date(let date) = value {
      dates += date.timeIntervalSinceReferenceDate
      dateCount += 1
    } else if sum.add(value) {
      summands += 1
    }
    guard keepsExtremes else { return }
    if least.isNull || PropertyValue.compare(value, least) == .less { least = value }
    if greatest.isNull || PropertyValue.compare(value, greatest) == .greater { greatest = value }
  }

  package func value(of function: AggregateExpression.Function) -> PropertyValue {
    switch function {
    case .count: .integer(Int64(count))
    case .sum: sum.value
    case .average:
      summands == 0 && dateCount > 0
        ? .date(Date(timeIntervalSinceReferenceDate: dates / Double(dateCount)))
        : sum.average(of: summands)
    case .minimum: least
    case .maximum: greatest
    case .median: ValueStatistics.median(values ?? [])
    case .mode: ValueStatistics.mode(values ?? [])
    case .standardDeviation: ValueStatistics.standardDeviation(values ?? [])
    }
  }
}

/// An accumulator of one aggregate of a group while the objects of the group are visited.
package struct GroupFigure: Sendable {
  private var rowCount = 0
  /// The accumulated values, or `nil` if rows are counted regardless of their values.
  private var summary: ValueSummary?
  private let function: AggregateExpression.Function

  package init(_ aggregate: RowPlan.GroupAggregate) {
    function = aggregate.function
    guard aggregate.expression != nil else { return }
    summary = ValueSummary(
      isDistinct: aggregate.isDistinct, keepsValues: function.takesAllValues,
      keepsExtremes: function == .minimum || function == .maximum)
  }

  /// Adds an object's value, or `nil` if rows are counted.
  package mutating func add(_ value: PropertyValue?) {
    rowCount += 1
    if let value { summary?.add(value) }
  }

  /// Counts objects without their values.
  package mutating func add(rows: Int) { rowCount += rows }

  package var value: PropertyValue { summary?.value(of: function) ?? .integer(Int64(rowCount)) }
}
