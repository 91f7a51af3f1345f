package import ArborFoundation

extension PredicateFunction {
  /// Returns the function's value, or null for unsuitable arguments.
  ///
  /// - Parameter now: The current time.
  package func value(of arguments: [PropertyValue], now: Date) -> PropertyValue {
    let first = arguments.first ?? .null
    let second = arguments.count > 1 ? arguments[1] : .null
    switch self {
    case .add: return ValueArithmetic.add(first, second)
    case .subtract: return ValueArithmetic.subtract(first, second)
    case .multiply: return ValueArithmetic.multiply(first, second)
    case .divide: return ValueArithmetic.divide(first, second)
    case .modulus: return ValueArithmetic.modulus(first, second)
    case .power: return ValueArithmetic.power(first, second)
    case .negate: return ValueArithmetic.negate(first)
    case .bitwiseAnd: return ValueFunctions.bitwise(first, second, &)
    case .bitwiseOr: return ValueFunctions.bitwise(first, second, |)
    case .bitwiseXor: return ValueFunctions.bitwise(first, second, ^)
    case .leftshift: return ValueFunctions.bitwise(first, second, <<)
    case .rightshift: return ValueFunctions.bitwise(first, second, >>)
    case .onesComplement: return ValueFunctions.onesComplement(first)
    case .union, .intersect, .minus, .distinct: return set(first, second)
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev: return statistic(arguments)
    case .sqrt: return ValueFunctions.real(first) { $0.squareRoot() }
    case .log: return ValueFunctions.real(first, log10)
    case .ln: return ValueFunctions.real(first, ArborFoundation.log)
    case .exp: return ValueFunctions.real(first, ArborFoundation.exp)
    case .floor: return ValueFunctions.rounded(first, .down)
    case .ceiling: return ValueFunctions.rounded(first, .up)
    case .abs: return ValueFunctions.magnitude(first)
    case .trunc: return ValueFunctions.rounded(first, .towardZero)
    case .random: return .double(Double.random(in: 0..<1))
    case .randomn: return ValueFunctions.random(below: first)
    case .uppercase, .lowercase, .length, .canonical:
      return ValueFunctions.text(first, value(ofText:))
    case .concat: return ValueFunctions.joined(arguments, by: .string(""))
    case .join:
      guard case .list(let elements) = first else { return .null }
      return ValueFunctions.joined(elements, by: arguments.count > 1 ? second : .string(""))
    case .year, .month, .day, .hour, .weekday:
      return part(of: first, in: arguments.count > 1 ? second : .string("UTC"))
    case .now: return .date(now)
    case .noindex: return first
    // Bound as an expression of its own, because it reads objects.
    case .closure: return .null
    case .distanceToLocation: return ValueFunctions.distance(first, second)
    }
  }

  private func value(ofText text: String) -> PropertyValue {
    switch self {
    case .uppercase: .string(text.uppercased())
    case .lowercase: .string(text.lowercased())
    case .length: .integer(Int64(text.count))
    case .canonical: .string(StringFolding([.case, .diacritics]).fold(text))
    default: .null
    }
  }

  /// Returns a component of a date. Null for any other value and for an unknown time zone.
  private func part(of value: PropertyValue, in zone: PropertyValue) -> PropertyValue {
    guard case .date(let date) = value, case .string(let name) = zone,
      let zone = PredicateZones.zone(named: name)
    else { return .null }
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard seconds.magnitude < 1e14 else { return .null }
    let clock = zone.clock(at: Int(seconds))
    let day = GregorianDay(containing: clock)
    let part =
      switch self {
      case .year: day.components.year
      case .month: day.components.month
      case .day: day.components.day
      case .hour: (clock - day.clock) / 3600
      default: day.weekday
      }
    return .integer(Int64(part))
  }

  private func statistic(_ arguments: [PropertyValue]) -> PropertyValue {
    let elements = ValueStatistics.elements(arguments)
    switch self {
    case .sum: return ValueStatistics.sum(elements)
    case .min: return ValueStatistics.extreme(elements, .less)
    case .max: return ValueStatistics.extreme(elements, .greater)
    case .average: return ValueStatistics.average(elements)
    case .median: return ValueStatistics.median(elements)
    case .mode: return ValueStatistics.mode(elements)
    case .stddev: return ValueStatistics.standardDeviation(elements)
    case .count:
      if arguments.count == 1, case .composite(let parts) = arguments[0] {
        return .integer(Int64(parts.count))
      }
      return .integer(Int64(elements.count))
    default: return .null
    }
  }

  private func set(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    guard case .list(let left) = left else { return .null }
    if self == .distinct { return .list(ValueSets.distinct(left)) }
    guard case .list(let right) = right else { return .null }
    if self == .union { return .list(ValueSets.distinct(left + right)) }
    let others = Set(right.map(DistinctValue.init))
    let isWanted = self == .intersect
    return .list(ValueSets.distinct(left.filter { others.contains(DistinctValue($0)) == isWanted }))
  }
}

extension BoundUnion {
  func value(of list: PropertyValue) -> PropertyValue {
    guard case .list(var values) = list else { return .null }
    if opensLists {
      values = values.flatMap { value in
        if case .list(let inner) = value { inner } else { [value] }
      }
    }
    values.removeAll(where: \.isNull)
    return .list(isDistinct ? ValueSets.distinct(values) : values)
  }
}
