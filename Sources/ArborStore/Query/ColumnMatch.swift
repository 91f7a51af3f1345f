internal import ArborModel

/// What the conditions on one property say together, as far as an index can serve it.
final class ColumnMatch {
  enum Condition {
    /// One of some values; nil is a value like others.
    case points([Value])
    case range(ValueRange)
    /// Strings that begin with a text.
    case prefix(String)
  }

  /// Values between two ends. Nil lies in none; as the lower end it stands for no lower end.
  struct ValueRange {
    var lower: Value
    var isLowerIncluded = false
    var upper: Value?
    var isUpperIncluded = false

    /// The values that lie in both ranges.
    func intersection(_ other: ValueRange) -> ValueRange {
      var result = self
      let order = Value.compare(other.lower, lower)
      if order == .greater || order == .equal && !other.isLowerIncluded {
        result.lower = other.lower
        result.isLowerIncluded = other.isLowerIncluded
      }
      if let bound = other.upper {
        let order = upper.map { Value.compare(bound, $0) } ?? .less
        if order == .less || order == .equal && !other.isUpperIncluded {
          result.upper = bound
          result.isUpperIncluded = other.isUpperIncluded
        }
      }
      return result
    }
  }

  let condition: Condition
  /// The conjuncts that say no more than the condition: once it is served they need no evaluation.
  let served: [Int]
  /// The related objects that the condition names; nil where the predicate names its values.
  let related: RelatedRows?

  /// A condition by the objects that a relationship leads to.
  init(_ related: RelatedRows) {
    condition = .points(related.numbers.map { .integer(Int64(bitPattern: $0)) })
    served = related.condition.places
    self.related = related
  }

  /// Puts together what conjuncts say about one property; nil where none says anything.
  init?(_ terms: [(conjunct: Int, term: IndexableTerm)]) {
    var points: (values: [Value], served: [Int])?
    var range: (range: ValueRange, served: [Int])?
    var prefix: (text: String, served: [Int])?
    for (conjunct, term) in terms {
      let served = term.isExact ? [conjunct] : []
      switch term.condition {
      case .equals(let value):
        if points.map({ $0.values.count > 1 }) ?? true { points = ([value], served) }
      case .anyOf(let values):
        if points.map({ $0.values.count > values.count }) ?? true { points = (values, served) }
      case .range(let lower, let isLowerIncluded, let upper, let isUpperIncluded):
        let own = ValueRange(
          lower: lower, isLowerIncluded: isLowerIncluded, upper: upper,
          isUpperIncluded: isUpperIncluded)
        range = (range?.range.intersection(own) ?? own, (range?.served ?? []) + served)
      case .prefix(let text):
        if prefix.map({ $0.text.utf8.count < text.utf8.count }) ?? true { prefix = (text, served) }
      }
    }
    related = nil
    if let points {
      condition = .points(points.values)
      served = points.served
    } else if let prefix {
      condition = .prefix(prefix.text)
      served = prefix.served
    } else if let range {
      condition = .range(range.range)
      served = range.served
    } else {
      return nil
    }
  }
}
