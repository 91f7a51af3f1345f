internal import ArborFoundation

/// The result of comparing two values.
package enum Ordering: Int8, Sendable, Hashable {
  /// The first value is less than the second.
  case less = -1
  /// The values are equal in the order.
  case equal = 0
  /// The first value is greater than the second.
  case greater = 1

  /// The result of comparing the values in reverse.
  package var reversed: Ordering {
    switch self {
    case .less: .greater
    case .equal: .equal
    case .greater: .less
    }
  }

  @inlinable
  package init<T: Comparable>(_ left: T, _ right: T) {
    self = left < right ? .less : (left == right ? .equal : .greater)
  }

  /// Compares two byte sequences lexicographically. A proper prefix is less.
  package init(bytes left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
    let common = min(left.count, right.count)
    if common > 0, let first = left.baseAddress, let second = right.baseAddress {
      let order = memcmp(first, second, common)
      if order != 0 {
        self = order < 0 ? .less : .greater
        return
      }
    }
    self.init(left.count, right.count)
  }
}

extension PropertyValue {
  /// Compares two values in the total order that sorting, indexes and predicates share.
  ///
  /// Null sorts first. It is followed by numbers and Booleans in numeric order, regardless of their
  /// types, and then by strings in code point order, dates, binary values, UUIDs, URIs, object IDs,
  /// lists (element by element) and composites. Values that are equal in this order can have
  /// different types: `.integer(1)`, `.double(1)` and `.boolean(true)` are equal. NaN sorts before
  /// all other numbers.
  package static func compare(_ left: PropertyValue, _ right: PropertyValue) -> Ordering {
    let rank = left.orderingRank
    guard rank == right.orderingRank else { return Ordering(rank, right.orderingRank) }
    switch (left, right) {
    case (.null, .null): return .equal
    case (.string(let left), .string(let right)): return compareTexts(left, right)
    case (.date(let left), .date(let right)):
      return NumberOrdering.compare(
        left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.binary(let left), .binary(let right)):
      return left.withUnsafeBytes { left in
        right.withUnsafeBytes { Ordering(bytes: left, $0) }
      }
    case (.uuid(let left), .uuid(let right)): return compareUUIDs(left, right)
    case (.uri(let left), .uri(let right)):
      return compareTexts(left.absoluteString, right.absoluteString)
    case (.objectID(let left), .objectID(let right)): return compareObjects(left, right)
    case (.list(let left), .list(let right)): return compareLists(left, right)
    case (.composite(let left), .composite(let right)): return compareComposites(left, right)
    default: return NumberOrdering.compare(left, right)
    }
  }

  /// The rank of a value's kind in the order.
  package var orderingRank: Int {
    switch self {
    case .null: 0
    case .boolean, .integer, .double, .decimal: 1
    case .string: 2
    case .date: 3
    case .binary: 4
    case .uuid: 5
    case .uri: 6
    case .objectID: 7
    case .list: 8
    case .composite: 9
    }
  }

  /// Compares strings by their UTF-8, which is ordered like their code points.
  package static func compareTexts(_ left: String, _ right: String) -> Ordering {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 {
        Ordering(bytes: UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0))
      }
    }
  }

  private static func compareUUIDs(_ left: UUID, _ right: UUID) -> Ordering {
    withUnsafeBytes(of: left.uuid) { left in
      withUnsafeBytes(of: right.uuid) { Ordering(bytes: left, $0) }
    }
  }

  private static func compareObjects(_ left: ObjectID, _ right: ObjectID) -> Ordering {
    let stores = compareUUIDs(left.storeID, right.storeID)
    guard stores == .equal else { return stores }
    let entities = compareTexts(left.entityName, right.entityName)
    return entities == .equal ? Ordering(left.number, right.number) : entities
  }

  private static func compareLists(_ left: [PropertyValue], _ right: [PropertyValue]) -> Ordering {
    for (left, right) in zip(left, right) {
      let order = compare(left, right)
      guard order == .equal else { return order }
    }
    return Ordering(left.count, right.count)
  }

  private static func compareComposites(
    _ left: [String: PropertyValue], _ right: [String: PropertyValue]
  ) -> Ordering {
    let inOrder:
      (Dictionary<String, PropertyValue>.Element, Dictionary<String, PropertyValue>.Element) -> Bool =
        {
          compareTexts($0.key, $1.key) == .less
        }
    return compareLists(
      left.sorted(by: inOrder).flatMap { [.string($0.key), $0.value] },
      right.sorted(by: inOrder).flatMap { [.string($0.key), $0.value] })
  }
}
