/// Aggregates of values, which ignore nulls.
enum PlainStatistics {
  private static func numbers(_ values: [PlainValue]) -> [PlainValue] {
    values.filter { $0.family == .number && !$0.isNaN }
  }

  static func sum(_ values: [PlainValue]) -> PlainValue {
    var sum: PlainValue = .integer(0)
    for number in numbers(values) { sum = PlainArithmetic.value(sum, .add, number) }
    return sum
  }

  static func average(_ values: [PlainValue]) -> PlainValue {
    mean(sum(values), numbers(values).count)
  }

  /// Returns the mean, which need not be an integer even if the values are.
  private static func mean(_ sum: PlainValue, _ count: Int) -> PlainValue {
    if count == 0 { return .null }
    if case .integer(let sum) = sum { return .double(Double(sum) / Double(count)) }
    return PlainArithmetic.value(sum, .divide, .integer(Int64(count)))
  }

  static func extreme(_ values: [PlainValue], _ wanted: Int) -> PlainValue {
    var best: PlainValue = .null
    for value in values where !value.isNull && !value.isNaN {
      if best.isNull || value.compared(to: best) == wanted { best = value }
    }
    return best
  }

  private static func sorted(_ values: [PlainValue]) -> [PlainValue] {
    values.sorted { $0.compared(to: $1) < 0 }
  }

  static func median(_ values: [PlainValue]) -> PlainValue {
    let sorted = sorted(numbers(values))
    if sorted.isEmpty { return .null }
    if sorted.count % 2 == 1 { return sorted[sorted.count / 2] }
    let (low, high) = (sorted[sorted.count / 2 - 1], sorted[sorted.count / 2])
    return mean(PlainArithmetic.value(low, .add, high), 2)
  }

  /// Returns the most frequent values, sorted.
  static func mode(_ values: [PlainValue]) -> PlainValue {
    let present = values.filter { !$0.isNull && !$0.isNaN }
    func frequency(_ value: PlainValue) -> Int {
      present.filter { $0.compared(to: value) == 0 }.count
    }
    let most = present.map(frequency).max() ?? 0
    return .list(distinct(sorted(present.filter { frequency($0) == most })))
  }

  /// Returns the standard deviation of the whole population.
  static func deviation(_ values: [PlainValue]) -> PlainValue {
    let numbers = numbers(values).compactMap(PlainArithmetic.double)
    if numbers.isEmpty { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
    return PlainArithmetic.plain((squares / Double(numbers.count)).squareRoot())
  }

  /// Removes duplicates, keeping the first of each.
  static func distinct(_ values: [PlainValue]) -> [PlainValue] {
    var kept: [PlainValue] = []
    for value in values where !kept.contains(where: { $0.compared(to: value) == 0 }) {
      kept.append(value)
    }
    return kept
  }
}
