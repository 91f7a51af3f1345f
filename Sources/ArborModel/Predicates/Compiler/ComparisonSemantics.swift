package import ArborFoundation

/// The reference semantics of comparisons. Compiled code is an optimized equivalent.
///
/// - `nil` equals only `nil`, also within lists, and `!=` is the negation of `==`. All other
///   operators yield `false` if an operand is `nil`.
/// - Numbers are equal if they have the same numeric value. Values of different kinds are not
///   equal.
/// - Strings are compared by code point. With `c` or `d`, their folded forms are compared, so that
///   canonically equivalent strings are equal. With `l`, the locale's collation is used.
/// - No string contains, starts with or ends with an empty string.
package struct ComparisonSemantics {
  let comparison: ComparisonOperator
  let options: ComparisonOptions
  private let locale: Locale
  private let matchers = TextMatcherCache()

  package init(
    _ comparison: ComparisonOperator, _ options: ComparisonOptions, locale: Locale = .current
  ) {
    self.comparison = comparison
    self.options = options
    self.locale = locale
  }

  /// Returns whether the comparison holds for two values.
  ///
  /// - Parameter resolver: The resolver that limits the evaluation of regular expressions.
  /// - Throws: ``ArborError`` `invalidPredicate` if a regular expression is malformed.
  package func holds(
    _ left: PropertyValue, _ right: PropertyValue, _ resolver: (any RecordResolver)? = nil
  ) throws(ArborError) -> Bool {
    switch comparison {
    case .equal: return areEqual(left, right)
    case .notEqual: return !areEqual(left, right)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return order(left, right).map(comparison.accepts) ?? false
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else { return false }
      return order(left, bounds[0]).map(ComparisonOperator.greaterOrEqual.accepts) ?? false
        && order(left, bounds[1]).map(ComparisonOperator.lessOrEqual.accepts) ?? false
    case .in: return try contains(right, left)
    case .contains: return try contains(left, right)
    case .matches:
      guard case .string(var text) = left, case .string(let pattern) = right else { return false }
      let matcher = try matchers.matcher(.matches, options, pattern, locale)
      guard let matcher = matcher as? RegularExpressionMatcher else { return false }
      return text.withUTF8 { matcher.matches(UnsafeRawBufferPointer($0), resolver) }
    case .beginsWith, .endsWith, .like, .tokenMatches, .utiConformsTo, .utiEquals:
      guard case .string(let text) = left, case .string(let pattern) = right else { return false }
      return try isText(text, comparison, pattern)
    }
  }

  private func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)): return order(left, right) == .equal
    case (.list(let left), .list(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
    case (.double(let number), _) where number.isNaN, (_, .double(let number)) where number.isNaN:
      return false
    default: return PropertyValue.compare(left, right) == .equal
    }
  }

  private func order(_ left: PropertyValue, _ right: PropertyValue) -> Ordering? {
    switch (left, right) {
    case (.string(let left), .string(let right)): return order(left, right)
    case (.double(let number), _) where number.isNaN, (_, .double(let number)) where number.isNaN:
      return nil
    case (.null, _), (.objectID, _), (.list, _), (.composite, _): return nil
    default:
      return left.orderingRank == right.orderingRank ? PropertyValue.compare(left, right) : nil
    }
  }

  private func order(_ left: String, _ right: String) -> Ordering {
    if options.contains(.localized) {
      return LocalizedMatcher.order(left, right, options.folding, locale)
    }
    let folding = options.folding
    return PropertyValue.compareTexts(folding.fold(left), folding.fold(right))
  }

  private func contains(_ collection: PropertyValue, _ element: PropertyValue) throws(ArborError)
    -> Bool
  {
    switch (collection, element) {
    case (.list(let members), _):
      if let scalar = element.jsonScalar, members.contains(where: { areEqual($0, scalar) }) {
        return true
      }
      return members.contains { areEqual($0, element) }
    case (.composite(let parts), _): return parts.values.contains { areEqual($0, element) }
    case (.string(let text), .string(let part)): return try isText(text, .contains, part)
    default: return false
    }
  }

  private func isText(
    _ text: String, _ comparison: ComparisonOperator, _ pattern: String
  ) throws(ArborError) -> Bool {
    try matchers.matcher(comparison, options, pattern, locale).matches(text)
  }
}
