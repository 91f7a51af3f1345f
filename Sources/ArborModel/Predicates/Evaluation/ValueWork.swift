internal import ArborFoundation

// The work of evaluating a predicate, in units of roughly a nanosecond. The estimates depend only on
// the operands, so that an operation is charged before it runs; see ``RecordResolver/charge(_:)``.
// They are upper bounds, which err by a small factor.

extension PropertyValue {
  /// The work of reading or copying every byte and element of the value.
  ///
  /// - Complexity: O(*n*) for a list of *n* elements, including nested ones.
  var work: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .binary(let data): data.count
    case .uri(let url): url.absoluteString.utf8.count
    // Decimals are converted to digits and back by every operation.
    case .decimal: 1000
    case .list(let elements): elements.reduce(16 * elements.count) { $0 + $1.work }
    case .composite(let parts):
      parts.reduce(64 * parts.count) { $0 + $1.key.utf8.count + $1.value.work }
    default: 0
    }
  }

  /// The number of composites in the value. They all have the same hash if their numbers of parts
  /// are equal.
  fileprivate var compositeCount: Int {
    switch self {
    case .list(let elements): elements.reduce(0) { $0 + $1.compositeCount }
    case .composite: 1
    default: 0
    }
  }

  /// The work of finding equal elements of lists by their hashes.
  fileprivate var hashingWork: Int {
    let composites = compositeCount
    return 16 * work + composites * composites * 300
  }

  /// The work of sorting the elements of a list.
  fileprivate var sortingWork: Int {
    guard case .list(let elements) = self else { return 0 }
    return 2 * work * (Int.bitWidth - elements.count.leadingZeroBitCount)
  }
}

extension PredicateFunction {
  /// Returns the work of the function, except for that of reading its value.
  func work(on operands: [PropertyValue]) -> Int {
    let total = operands.reduce(100) { $0 + $1.work }
    switch self {
    case .uppercase, .lowercase, .canonical: return 60 * total
    case .length: return 30 * total
    case .concat: return 4 * total + 20 * operands.count
    case .join:
      guard case .list(let elements)? = operands.first, operands.count > 1 else { return 4 * total }
      return 4 * (total + elements.count * operands[1].work)
    case .union, .intersect, .minus, .distinct:
      return total + PropertyValue.list(operands).hashingWork
    case .median, .mode:
      return total + PropertyValue.list(ValueStatistics.elements(operands)).sortingWork
    case .sum, .count, .min, .max, .average, .stddev: return 8 * total
    case .year, .month, .day, .hour, .weekday:
      guard operands.count > 1, case .string(let zone) = operands[1] else { return 4 * total }
      return 4 * total + PredicateZones.work(ofFinding: zone)
    default: return 2 * total
    }
  }
}

extension BoundUnion {
  /// Returns the work of joining the elements of a list, except for that of reading the result.
  func work(on list: PropertyValue) -> Int {
    100 + (isDistinct ? list.hashingWork : 4 * list.work)
  }
}

extension ValueCast {
  /// Returns the work of casting a value, except for that of reading the result.
  func work(on value: PropertyValue) -> Int {
    switch (self, value) {
    case (.number, .string(let text)): 300 + 20 * text.utf8.count
    case (.decimal, .string(let text)): 1000 + 60 * text.utf8.count
    case (.date, .string(let text)): 1000 + 20 * text.utf8.count
    case (.uri, .string(let text)): 2000 + 100 * text.utf8.count
    case (.text, .date): 10_000
    default: 1000 + 2 * value.work
    }
  }
}

extension ComparisonSemantics {
  /// Returns the work of comparing two values.
  func work(_ left: PropertyValue, _ right: PropertyValue) -> Int {
    switch (comparison, left, right) {
    case (.in, _, .list(let members)): return work(members, left)
    case (.in, _, .composite(let parts)): return work(Array(parts.values), left)
    case (.contains, .list(let members), _): return work(members, right)
    case (.contains, .composite(let parts), _): return work(Array(parts.values), right)
    case (.in, _, .string(let pattern)): return preparingWork(pattern) + 100 + left.work * unit
    case (_, _, .string(let pattern)) where !comparison.isOfOrders:
      return preparingWork(pattern) + 100 + (left.work + pattern.utf8.count) * unit
    default: return 100 + (left.work + right.work) * unit
    }
  }

  private var unit: Int { comparison.workPerByte(options) }

  /// Returns the work of comparing an element with each member of a list.
  private func work(_ members: [PropertyValue], _ element: PropertyValue) -> Int {
    let length = element.work
    // Strings that are compared as they are differ early or have equal lengths.
    let isPlain = options.folding.isEmpty && !options.contains(.localized)
    return members.reduce(100) {
      let other = $1.work
      return $0 + 60 + (isPlain ? 2 * min(length, other) : (length + other) * unit)
    }
  }

  /// Returns the work of creating a matcher for a pattern.
  private func preparingWork(_ pattern: String) -> Int {
    let stars = comparison == .like ? pattern.utf8.count { $0 == UInt8(ascii: "*") } : 0
    return 500 + pattern.utf8.count * 2 * unit + stars * 5000
  }
}

extension ComparisonOperator {
  /// Returns the work of comparing a string, for each of its bytes.
  func workPerByte(_ options: ComparisonOptions) -> Int {
    switch self {
    case .matches, .tokenMatches, .utiConformsTo: return 100
    case .contains where options.contains(.words): return 100
    case .like: return options.folding.isEmpty ? 60 : 120
    default: break
    }
    if options.contains(.localized) { return 200 }
    return options.folding.isEmpty && self != .utiEquals ? 2 : 60
  }
}

extension BoundNode {
  /// The work of compiling the node, or of evaluating all of its own operands without texts and
  /// lists.
  var staticWork: Int {
    var work = 0
    _ = contains { expression, _ in
      work += expression.staticWork
      return false
    }
    return work
  }
}

extension BoundExpression {
  /// The work of reading the expression itself, without its parts and without texts and lists.
  var staticWork: Int {
    switch self {
    case .path(let path), .decoded(let path, _): 10 + 100 * path.hops.count
    case .collection(let collection): 300 + 100 * collection.hops.count
    case .each, .follow, .subquery, .closure, .filter, .part, .custom: 300
    default: 10
    }
  }
}
