internal import ArborModel

/// The combined condition of several terms on one property, in a form that an index can serve.
final class ColumnMatch {
  enum Condition {
    /// One of several values. `nil` counts as a value.
    case points([PropertyValue])
    case range(ValueRange)
    /// Strings with this prefix.
    case prefix(String)
  }

  /// Values between two bounds. `nil` is never in the range; a `null` lower bound means that there
  /// is no lower bound.
  struct ValueRange {
    var lower: PropertyValue
    var isLowerIncluded = false
    var upper: PropertyValue?
    var isUpperIncluded = false

    /// Returns the values that are in both ranges.
    func intersection(_ other: ValueRange) -> ValueRange {
      var result = self
      let order = PropertyValue.compare(other.lower, lower)
      if order == .greater || order == .equal && !other.isLowerIncluded {
        result.lower = other.lower
        result.isLowerIncluded = other.isLowerIncluded
      }
      if let bound = other.upper {
        let order = upper.map { PropertyValue.compare(bound, $0) } ?? .less
        if order == .less || order == .equal && !other.isUpperIncluded {
          result.upper = bound
          result.isUpperIncluded = other.isUpperIncluded
        }
      }
      return result
    }
  }

  let condition: Condition
  /// The conjuncts that the condition fully expresses. They need no further evaluation.
  let covered: [Int]
  /// The condition on related objects that supply the values, and the number of these objects.
  /// `nil` if the predicate names the values.
  let related: (condition: RelatedCondition, count: RowCount)?

  /// Creates the condition on the folded form of given strings. It is weaker than the conjuncts,
  /// except for `nil`.
  init?(folding other: ColumnMatch, _ folding: StringFolding) {
    guard case .points(let values) = other.condition else { return nil }
    condition = .points(
      values.map { value in
        if case .string(let text) = value { .string(folding.fold(text)) } else { value }
      })
    covered = values.allSatisfy(\.isNull) ? other.covered : []
    related = nil
  }

  /// Creates the condition for a word, or the prefix of a word.
  init(_ token: TokenQuery.Token) {
    let text = String(decoding: token.bytes, as: UTF8.self)
    condition = token.isPrefix ? .prefix(text) : .points([.string(text)])
    covered = []
    related = nil
  }

  /// Creates the condition that the value is not `nil`.
  init() {
    condition = .range(ValueRange(lower: .null))
    covered = []
    related = nil
  }

  /// Creates a condition on a relationship's target from the related objects that satisfy another
  /// condition. It matches no object until they are known.
  init(_ condition: RelatedCondition, _ count: RowCount) {
    let numbers = count.numbers ?? []
    self.condition = .points(numbers.map { .integer(Int64(bitPattern: $0)) })
    covered = condition.termIndices
    related = (condition, count)
  }

  /// Combines the terms on one property. Returns `nil` if none of them can be served by an index.
  init?(_ terms: [(conjunct: Int, term: IndexableTerm)]) {
    var points: (values: [PropertyValue], covered: [Int])?
    var range: (range: ValueRange, covered: [Int])?
    var prefix: (text: String, covered: [Int])?
    for (conjunct, term) in terms {
      let covered = term.isExact ? [conjunct] : []
      switch term.condition {
      case .equals(let value):
        if points.map({ $0.values.count > 1 }) ?? true { points = ([value], covered) }
      case .anyOf(let values):
        if points.map({ $0.values.count > values.count }) ?? true { points = (values, covered) }
      case .range(let lower, let isLowerIncluded, let upper, let isUpperIncluded):
        let own = ValueRange(
          lower: lower, isLowerIncluded: isLowerIncluded, upper: upper,
          isUpperIncluded: isUpperIncluded)
        range = (range?.range.intersection(own) ?? own, (range?.covered ?? []) + covered)
      case .prefix(let text):
        if prefix.map({ $0.text.utf8.count < text.utf8.count }) ?? true { prefix = (text, covered) }
      case .words: break
      }
    }
    related = nil
    if let points {
      condition = .points(points.values)
      covered = points.covered
    } else if let prefix {
      condition = .prefix(prefix.text)
      covered = prefix.covered
    } else if let range {
      condition = .range(range.range)
      covered = range.covered
    } else {
      return nil
    }
  }

  /// Returns whether this condition implies another one on the same property.
  func implies(_ other: IndexableTerm.Condition) -> Bool {
    switch other {
    case .equals(let value): return isAmong([value])
    case .anyOf(let values): return isAmong(values)
    case .range(let lower, let isLowerIncluded, let upper, let isUpperIncluded):
      let range = ValueRange(
        lower: lower, isLowerIncluded: isLowerIncluded, upper: upper,
        isUpperIncluded: isUpperIncluded)
      switch condition {
      case .points(let values): return values.allSatisfy(range.contains)
      case .range(let own): return range.contains(own)
      case .prefix: return lower.isNull && upper == nil
      }
    case .prefix(let text):
      switch condition {
      case .points(let values):
        return values.allSatisfy { value in
          if case .string(let value) = value { value.utf8.starts(with: text.utf8) } else { false }
        }
      case .range: return false
      case .prefix(let own): return own.utf8.starts(with: text.utf8)
      }
    case .words: return false
    }
  }

  private func isAmong(_ others: [PropertyValue]) -> Bool {
    guard case .points(let values) = condition else { return false }
    return values.allSatisfy { value in
      others.contains { PropertyValue.compare($0, value) == .equal }
    }
  }
}

extension ColumnMatch.ValueRange {
  /// Returns whether a value is in the range. `nil` never is.
  fileprivate func contains(_ value: PropertyValue) -> Bool {
    if value.isNull { return false }
    if !lower.isNull {
      let order = PropertyValue.compare(value, lower)
      if order == .less || order == .equal && !isLowerIncluded { return false }
    }
    guard let upper else { return true }
    let order = PropertyValue.compare(value, upper)
    return order == .less || order == .equal && isUpperIncluded
  }

  /// Returns whether this range includes all of another one.
  fileprivate func contains(_ other: ColumnMatch.ValueRange) -> Bool {
    if !lower.isNull {
      if other.lower.isNull { return false }
      let order = PropertyValue.compare(other.lower, lower)
      if order == .less || order == .equal && other.isLowerIncluded && !isLowerIncluded {
        return false
      }
    }
    guard let upper else { return true }
    guard let end = other.upper else { return false }
    let order = PropertyValue.compare(end, upper)
    return order == .less || order == .equal && (!other.isUpperIncluded || isUpperIncluded)
  }
}
