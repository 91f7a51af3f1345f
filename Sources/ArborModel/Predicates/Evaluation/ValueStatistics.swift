internal import Foundation

/// Functions of many values. Nil, and for sums whatever is no number, is passed over.
package enum ValueStatistics {
  /// What a function's arguments stand for: the elements of the only one, or all of them, lists
  /// opened.
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

  /// The sum, in the order of the values; 0 of nothing.
  package static func sum(_ values: [PropertyValue]) -> PropertyValue {
    values.reduce(.integer(0)) { sum, value in
      isNumber(value) ? ValueArithmetic.add(sum, value) : sum
    }
  }

  /// The mean, which is not whole even of whole numbers; nil of nothing.
  package static func average(_ values: [PropertyValue]) -> PropertyValue {
    let count = values.count(where: isNumber)
    return mean(of: sum(values), count)
  }

  private static func mean(of sum: PropertyValue, _ count: Int) -> PropertyValue {
    if count == 0 { return .null }
    if case .integer(let sum) = sum { return .double(Double(sum) / Double(count)) }
    return ValueArithmetic.divide(sum, .integer(Int64(count)))
  }

  /// The least value, or the greatest; nil of nothing.
  package static func extreme(_ values: [PropertyValue], _ wanted: Ordering) -> PropertyValue {
    var extreme = PropertyValue.null
    for value in values where !value.isNull && !value.isNotANumber {
      if extreme.isNull || PropertyValue.compare(value, extreme) == wanted { extreme = value }
    }
    return extreme
  }

  /// The number in the middle; of an even number of them the mean of the two.
  package static func median(_ values: [PropertyValue]) -> PropertyValue {
    let sorted = values.filter(isNumber).sorted { PropertyValue.compare($0, $1) == .less }
    guard let last = sorted.indices.last else { return .null }
    let (low, high) = (sorted[last / 2], sorted[(last + 1) / 2])
    return last.isMultiple(of: 2) ? low : mean(of: ValueArithmetic.add(low, high), 2)
  }

  /// The values that are there most often, in their order.
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

  /// The standard deviation of the whole population; nil of nothing.
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

/// Lists as sets. Elements are the same where they are equal in the order of values; the first of
/// them is kept.
package enum ValueSets {
  /// Each value once, at its first position.
  package static func distinct(_ values: [PropertyValue]) -> [PropertyValue] {
    var seen: Set<DistinctValue> = []
    return values.filter { seen.insert(DistinctValue($0)).inserted }
  }
}
