import ArborModel
import Foundation
import Testing

@Suite struct ValueSummaryTests {
  private func summary(_ values: [PropertyValue], isDistinct: Bool = false) -> ValueSummary {
    var summary = ValueSummary(isDistinct: isDistinct)
    for value in values { summary.add(value) }
    return summary
  }

  private func all(_ values: [PropertyValue]) -> [PropertyValue] {
    AggregateExpression.Function.allCases.filter { !$0.takesAllValues }.map {
      summary(values).value(of: $0)
    }
  }

  @Test("Count and sum of no values are zero, and the other aggregates are null")
  func nothingHasASumOnly() {
    #expect(all([]) == [.integer(0), .integer(0), .null, .null, .null])
    #expect(all([.null, .null]) == all([]))
  }

  @Test("Integer sums are exact")
  func wholeNumbersStayWholeAndExact() {
    #expect(all([3, 4, .null, 6]) == [.integer(3), .integer(13), .double(13.0 / 3), 3, 6])
    let large: [PropertyValue] = [.integer(.max), .integer(.max)]
    #expect(summary(large).value(of: .sum) == .decimal(Decimal(Int64.max) * 2))
    #expect(summary(large + [.integer(-.max)]).value(of: .sum) == .integer(.max))
    #expect(summary([.boolean(true), .boolean(false)]).value(of: .sum) == 1)
  }

  @Test("The sum of mixed numbers has the widest type")
  func theWidestTypeDecides() {
    #expect(summary([1, .double(0.5)]).value(of: .sum) == .double(1.5))
    #expect(summary([1, .decimal(0.5)]).value(of: .sum) == .decimal(1.5))
    #expect(summary([.decimal(0.5), .double(0.5), 1]).value(of: .sum) == .double(2))
    #expect(summary([.decimal(1), .decimal(2)]).value(of: .average) == .decimal(1.5))
  }

  @Test("A sum that exceeds the range of Decimal is a double")
  func aSumThatNoDecimalHoldsIsAFloatingPointNumber() {
    let huge = PropertyValue.decimal(.greatestFiniteMagnitude)
    guard case .double(let sum) = summary(Array(repeating: huge, count: 12)).value(of: .sum) else {
      Issue.record("The sum is no floating-point number.")
      return
    }
    #expect(abs(sum / (12 * Decimal.greatestFiniteMagnitude.approximation) - 1) < 1e-9)
  }

  @Test("Dates have an average but no sum")
  func datesHaveAMeanAndNoSum() {
    let dates = [0.0, 10, 50].map { PropertyValue.date(Date(timeIntervalSinceReferenceDate: $0)) }
    let mean = summary(dates).value(of: .average)
    #expect(mean == .date(Date(timeIntervalSinceReferenceDate: 20)))
    #expect(summary(dates).value(of: .maximum) == dates[2])
  }

  @Test("Equal values of different types are counted once")
  func equalValuesOfAnyTypeCountOnce() {
    let values: [PropertyValue] = [
      1, .double(1), .boolean(true), .decimal(1), .decimal(Decimal(string: "1.00") ?? 0),
      .double(0),
      .double(-0.0), "a", "b", "a", .double(0.5), .decimal(0.5), .double(.infinity),
      .double(-.infinity), .double(1e300), .integer(.max), .double(0x1p63),
    ]
    var distinct: [PropertyValue] = []
    for value in values
    where !distinct.contains(where: { PropertyValue.compare($0, value) == .equal }) {
      distinct.append(value)
    }
    #expect(
      summary(values, isDistinct: true).value(of: .count) == .integer(Int64(distinct.count)))
  }

  @Test("Aggregates that need all values agree with the functions of the predicate language")
  func whatTakesAllValuesMeansWhatTheLanguageMeans() {
    let functions: [(AggregateExpression.Function, PredicateFunction)] = [
      (.median, .median), (.mode, .mode), (.standardDeviation, .stddev),
    ]
    let lists: [[PropertyValue]] = [
      [], [.null], [3], [3, 4, .null, 4, .double(6.5)], ["b", "a", "b", "a"],
      [.double(.nan), 1, 2],
      [.decimal(0.5), 1, .boolean(true)],
    ]
    for (function, other) in functions {
      #expect(function.takesAllValues && AggregateExpression.Function(other) == function)
      for values in lists {
        var summary = ValueSummary(keepsValues: true)
        for value in values { summary.add(value) }
        #expect(
          summary.value(of: function) == other.value(of: [.list(values)], now: .distantPast),
          "\(function) of \(values)")
      }
    }
    var distinct = ValueSummary(isDistinct: true, keepsValues: true)
    for value: PropertyValue in [1, 1, 1, .double(1), 2, 9] { distinct.add(value) }
    #expect(distinct.value(of: .median) == 2 && distinct.value(of: .mode) == .list([1, 2, 9]))
  }
}
