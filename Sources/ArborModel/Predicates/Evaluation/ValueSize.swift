internal import ArborFoundation

extension PropertyValue {
  /// The size that counts against the limit for computed values: the bytes of strings and data,
  /// plus one per list element. 0 for numbers, dates, Booleans and `nil`.
  ///
  /// - Complexity: O(*n*) for a list of *n* elements, including nested ones.
  package var size: Int {
    switch self {
    case .string(let text): return text.utf8.count
    case .binary(let data): return data.count
    case .list(let elements): return elements.reduce(elements.count) { $0 + $1.size }
    case .composite(let parts): return parts.values.reduce(parts.count) { $0 + $1.size }
    default: return 0
    }
  }

  /// The number of elements that a comparison may examine, or 0 for a single value.
  var elementCount: Int {
    switch self {
    case .list(let elements): return elements.reduce(elements.count) { $0 + $1.elementCount }
    case .composite(let parts): return parts.count
    default: return 0
    }
  }
}

extension PredicateFunction {
  /// Returns the function's value, unless it would be too large.
  ///
  /// - Parameter maximumSize: The maximum ``PropertyValue/size`` of the value.
  /// - Returns: The value, or `nil` if it would be larger, in which case concatenated strings and
  ///   lists are not even created.
  func value(of arguments: [PropertyValue], now: Date, maximumSize: Int) -> PropertyValue? {
    guard joinedSize(of: arguments, upTo: maximumSize) <= maximumSize else { return nil }
    let value = value(of: arguments, now: now)
    guard value.size <= maximumSize else { return nil }
    return value
  }

  /// Returns the size of the function's concatenated result, or 0 for any other function. A size
  /// above the maximum is not exact.
  private func joinedSize(of arguments: [PropertyValue], upTo maximumSize: Int) -> Int {
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
      return overflows || separators > maximumSize + separator
        ? Int.max : elements.reduce(Swift.max(0, separators - separator)) { $0 + $1.size }
    default: return 0
    }
  }
}

extension RecordResolver {
  /// Counts the cost of comparing two values.
  ///
  /// - Returns: Whether the evaluation may continue.
  func admits(comparing left: PropertyValue, with right: PropertyValue) -> Bool {
    let elements = left.elementCount + right.elementCount
    // A pair is a range, and costs no more than two values.
    if elements > 2, !admitElements(elements) { return false }
    let units = (left.size + right.size) >> 12
    return units == 0 || admitWork(units)
  }
}
