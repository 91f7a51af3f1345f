internal import Foundation

extension PropertyValue {
  /// The size that limits of computed values count: the bytes of texts and data, and one for each
  /// element of a list. 0 for numbers, dates, Booleans and nil.
  ///
  /// - Complexity: O(*n*) for a list of *n* elements, those of lists within it included.
  package var size: Int {
    switch self {
    case .string(let text): return text.utf8.count
    case .binary(let data): return data.count
    case .list(let elements): return elements.reduce(elements.count) { $0 + $1.size }
    case .composite(let parts): return parts.values.reduce(parts.count) { $0 + $1.size }
    default: return 0
    }
  }

  /// How many elements a comparison may look at; 0 for a single value.
  var elementCount: Int {
    switch self {
    case .list(let elements): return elements.reduce(elements.count) { $0 + $1.elementCount }
    case .composite(let parts): return parts.count
    default: return 0
    }
  }
}

extension PredicateFunction {
  /// The function's value.
  ///
  /// - Parameter most: The greatest ``PropertyValue/size`` of the value.
  /// - Returns: nil if the value would be larger. Texts and lists that are put together are not
  ///   made then.
  func value(of arguments: [PropertyValue], now: Date, most: Int) -> PropertyValue? {
    guard joinedSize(of: arguments, upTo: most) <= most else { return nil }
    let value = value(of: arguments, now: now)
    guard value.size <= most else { return nil }
    return value
  }

  /// The size of what the function puts together from its arguments; 0 for other functions. Not
  /// exact beyond a limit.
  private func joinedSize(of arguments: [PropertyValue], upTo most: Int) -> Int {
    switch self {
    case .add:
      guard arguments.count == 2, case .string = arguments[0], case .string = arguments[1] else {
        return 0
      }
      return arguments[0].size + arguments[1].size
    case .concat, .union, .uppercase, .lowercase, .canonical:
      return arguments.reduce(0) { $0 + $1.size }
    case .join:
      guard case .list(let elements)? = arguments.first else { return 0 }
      let separator = arguments.count > 1 ? arguments[1].size : 0
      let (separators, overflows) = separator.multipliedReportingOverflow(by: elements.count)
      return overflows || separators > most + separator
        ? Int.max : elements.reduce(Swift.max(0, separators - separator)) { $0 + $1.size }
    default: return 0
    }
  }
}

extension RecordResolver {
  /// Counts what comparing two values takes.
  ///
  /// - Returns: Whether the evaluation may continue.
  func admits(comparing left: PropertyValue, with right: PropertyValue) -> Bool {
    let elements = left.elementCount + right.elementCount
    // A pair is a range, which costs no more than two values.
    if elements > 2, !admitElements(elements) { return false }
    let units = (left.size + right.size) >> 12
    return units == 0 || admitWork(units)
  }
}
