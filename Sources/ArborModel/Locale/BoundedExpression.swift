/// A regular expression with bounded matching time.
package protocol BoundedExpression: Sendable {
  /// Finds the first match in a text.
  ///
  /// - Parameters:
  ///   - anchored: Whether a match must start at the beginning of the text.
  ///   - mayContinue: A closure that is called about every 0.2 ms, and returns whether to continue.
  func firstMatch(in text: String, anchored: Bool, while mayContinue: () -> Bool) -> MatchOutcome
}

/// The result of matching a text with a ``BoundedExpression``.
package enum MatchOutcome: Equatable {
  /// The range of the match, in UTF-16 code units.
  case found(Range<Int>)
  case missing
  /// The caller stopped the match.
  case stopped
  /// Matching takes too many steps or too much memory.
  case tooComplex
}
