internal import ArborFoundation

/// Functions of many values. All ignore `nil`; numeric functions also ignore everything that isn't
/// a number.
package enum ValueStatistics {
  /// Returns the elements of the only argument, or all arguments with lists flattened.
  static func elements(_ arguments: [PropertyValue]) -> [PropertyValue] {
    var elements: [PropertyValue] = []
    for argument in arguments {
      switch argument {
      case .list(let members): elements += members
      case .null where arguments.count == 1: break
      default: elements.append(argument)
      }
    }
    return elements
  }

  /// Returns the sum, computed in the order of the values, or 0 for no values.
  package static func sum(_ values: [PropertyValue]) -> PropertyValue {
    values.reduce(.integer(0)) { sum, value in
      isNumber(value) ? ValueArithmetic.add(sum, value) : sum
    }
  }

  /// Returns the mean, which is a floating-point number for integers, or null for no values.
  package static func average(_ values: [PropertyValue]) -> PropertyValue {
    let count = values.count(where: isNumber)
    return mean(of: sum(values), count)
  }

  private static func mean(of sum: PropertyValue, _ count: Int) -> PropertyValue {
    if count == 0 { return .null }
    if case .integer(let sum) = sum { return .double(Double(sum) / Double(count)) }
    return ValueArithmetic.divide(sum, .integer(Int64(count)))
  }

  /// Returns the minimum or maximum, or null for no values.
  package static func extreme(_ values: [PropertyValue], _ wanted: Ordering) -> PropertyValue {
    var extreme = PropertyValue.null
    for value in values where !value.isNull && !value.isNotANumber {
      if extreme.isNull || PropertyValue.compare(value, extreme) == wanted { extreme = value }
    }
    return extreme
  }

  /// Returns the median, or null for no values. For an even number of values, it is the mean of the
  /// two middle ones.
  package static func median(_ values: [PropertyValue]) -> PropertyValue {
    let sorted = values.filter(isNumber).sorted { PropertyValue.compare($0, $1) == .less }
    guard let last = sorted.indices.last else { return .null }
    let (low, high) = (sorted[last / 2], sorted[(last + 1) / 2])
    return last.isMultiple(of: 2) ? low : mean(of: ValueArithmetic.add(low, high), 2)
  }

  /// Returns the most frequent values, sorted.
  package static func mode(_ values: [PropertyValue]) -> PropertyValue {
    let sorted = values.filter { !$0.isNull && !$0.isNotANumber }
      .sorted { PropertyValue.compare($0, $1) == .less }
    var (modes, most, run): ([PropertyValue], Int, Int) = ([], 0, 0)
    for (index, value) in sorted.enumerated() {
      let repeats = index > 0 && PropertyValue.compare(sorted[index - 1], value) == .equal
      run = repeats ? run + 1 : 1
      if run > most { (modes, most) = ([], run) }
      if run == most { modes.append(value) }
    }
    return .list(modes)
  }

  /// Returns the population standard deviation, or null for no values.
  package static func standardDeviation(_ values: [PropertyValue]) -> PropertyValue {
    let numbers = values.filter(isNumber).compactMap(\.floating)
    if numbers.isEmpty { return .null }
    let count = Double(numbers.count)
    let mean = numbers.reduce(0, +) / count
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return ValueArithmetic.number((squares / count).squareRoot())
  }

  private static func isNumber(_ value: PropertyValue) -> Bool {
    value.orderingRank == 1 && !value.isNotANumber
  }
}

/// Set operations on lists. Elements that are equal in the order of values are duplicates, and only
/// the first of them is kept.
package enum ValueSets {
  /// Returns the distinct values, each at its first position.
  package static func distinct(_ values: [PropertyValue]) -> [PropertyValue] {
    var seen: Set<DistinctValue> = []
    return values.filter { seen.insert(DistinctValue($0)).inserted }
  }
}
