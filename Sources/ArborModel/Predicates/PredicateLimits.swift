/// How large a predicate's text may be and what it may ask for.
///
/// ```swift
/// let filter = try FetchPredicate(format: textFromTheNetwork, limits: .untrusted)
/// ```
public struct PredicateLimits: Sendable, Hashable {
  /// The greatest length of the text in UTF-8 bytes.
  public var maximumLength: Int
  /// The greatest depth of parentheses, lists, calls, operators and `NOT`s within one another. More
  /// than 200 counts as 200.
  public var maximumDepth: Int
  /// The greatest number of comparisons, operators, calls, arguments and list elements.
  public var maximumTerms: Int
  /// Whether `MATCHES` is allowed. Regular expressions can take time without bound.
  public var allowsRegularExpressions: Bool
  /// Whether `FUNCTION` is allowed, which runs functions that the program registered.
  public var allowsCustomFunctions: Bool

  /// Sets limits.
  public init(
    maximumLength: Int = 64 << 10, maximumDepth: Int = 64, maximumTerms: Int = 10_000,
    allowsRegularExpressions: Bool = true, allowsCustomFunctions: Bool = true
  ) {
    self.maximumLength = maximumLength
    self.maximumDepth = maximumDepth
    self.maximumTerms = maximumTerms
    self.allowsRegularExpressions = allowsRegularExpressions
    self.allowsCustomFunctions = allowsCustomFunctions
  }

  /// For predicates of the program's own: 64 KiB, depth 64, 10,000 terms.
  public static let standard = PredicateLimits()

  /// For predicates from outside: the standard limits, and `MATCHES` and `FUNCTION` are refused.
  public static let untrusted = PredicateLimits(
    allowsRegularExpressions: false, allowsCustomFunctions: false)
}
