internal import ArborFoundation

/// A value wrapped for use in sets. Two values are equal if and only if they are equal in the order
/// of values, regardless of their types: 1, 1.0 and true are equal.
///
/// This defines distinctness in the predicate language, rows, groups and aggregates.
package struct DistinctValue: Hashable, Sendable {
  package let value: PropertyValue

  package init(_ value: PropertyValue) { self.value = value }

  package static func == (left: Self, right: Self) -> Bool {
    PropertyValue.compare(left.value, right.value) == .equal
  }

  package func hash(into hasher: inout Hasher) { Self.hash(value, into: &hasher) }

  /// Returns a hash of several values, which is the same for values that are pairwise equal.
  package static func hash(of values: ArraySlice<PropertyValue>) -> Int {
    var hasher = Hasher()
    for value in values { hash(value, into: &hasher) }
    return hasher.finalize()
  }

  static func hash(_ value: PropertyValue, into hasher: inout Hasher) {
    hasher.combine(value.orderingRank)
    switch value {
    case .null: break
    case .boolean, .integer, .double, .decimal: hash(number: value, into: &hasher)
    case .string(let text): hasher.combine(StoredText(text))
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      hasher.combine(seconds.isNaN ? 0 : seconds)
    case .binary(let data): hasher.combine(data)
    case .uuid(let uuid): hasher.combine(uuid)
    case .uri(let url): hasher.combine(StoredText(url.absoluteString))
    case .objectID(let id): hasher.combine(id.number)
    case .list(let values):
      hasher.combine(values.count)
      for value in values { hash(value, into: &hasher) }
    case .composite(let parts):
      // The parts are unordered.
      var sum = 0
      for (name, part) in parts {
        var member = Hasher()
        member.combine(StoredText(name))
        hash(part, into: &member)
        sum ^= member.finalize()
      }
      hasher.combine(sum)
    }
  }

  /// Hashes a number by numeric value. Integers, the common case, have a short form.
  private static func hash(number: PropertyValue, into hasher: inout Hasher) {
    if let whole = number.wholeNumber ?? number.int64 {
      hasher.combine(whole)
    } else if let key = number.numberKey {
      hasher.combine(key)
    }
  }
}
