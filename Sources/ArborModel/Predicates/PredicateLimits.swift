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
  /// The greatest number of names in one key path. More than 64 counts as 64, which holds for the
  /// relationships that an expression follows in all, too. To-many relationships within one
  /// another, those of `SUBQUERY`s included, are 16 at most.
  public var maximumHops: Int
  /// Whether `MATCHES` is allowed. A regular expression may take up to 20 million steps, about half a
  /// second, for each text.
  public var allowsRegularExpressions: Bool
  /// Whether `FUNCTION` is allowed, which runs functions that the program registered.
  public var allowsCustomFunctions: Bool
  /// Which properties the predicate may name; nil for all.
  public var allowedProperties: PredicateAllowList?
  /// How many elements of collections one operation may evaluate; nil for any number. An element
  /// counts each time that it is looked at: of a related collection once for each object it is
  /// evaluated for, and of a list in the text each time the list is computed or searched.
  ///
  /// An operation that would need more throws ``ArborError`` `limitExceeded`.
  public var maximumElements: Int?
  /// The greatest size of what an operation holds while it computes values: the bytes of texts and
  /// data, and one for each element of a collection.
  ///
  /// An operation that would need more throws ``ArborError`` `limitExceeded`.
  public var maximumValueSize: Int
  /// How long one operation may take; nil for as long as it takes. One that takes longer throws
  /// ``ArborError`` `deadlineExceeded`.
  public var timeLimit: Duration?

  /// Sets limits.
  public init(
    maximumLength: Int = 64 << 10, maximumDepth: Int = 64, maximumTerms: Int = 10_000,
    maximumHops: Int = 64, allowsRegularExpressions: Bool = true,
    allowsCustomFunctions: Bool = true, allowedProperties: PredicateAllowList? = nil,
    maximumElements: Int? = nil, maximumValueSize: Int = 16 << 20, timeLimit: Duration? = nil
  ) {
    self.maximumLength = maximumLength
    self.maximumDepth = maximumDepth
    self.maximumTerms = maximumTerms
    self.maximumHops = maximumHops
    self.allowsRegularExpressions = allowsRegularExpressions
    self.allowsCustomFunctions = allowsCustomFunctions
    self.allowedProperties = allowedProperties
    self.maximumElements = maximumElements
    self.maximumValueSize = maximumValueSize
    self.timeLimit = timeLimit
  }

  /// For predicates of the program's own: 64 KiB, depth 64, 10,000 terms, computed values of
  /// 16 MiB.
  public static let standard = PredicateLimits()

  /// For predicates from outside: the standard limits, with key paths of 16 names at most;
  /// `MATCHES` and `FUNCTION` are refused, and an operation evaluates no more than a million
  /// elements of collections.
  public static let untrusted = PredicateLimits(
    maximumHops: 16, allowsRegularExpressions: false, allowsCustomFunctions: false,
    maximumElements: 1_000_000)

  /// Beyond this no limits go: each name is looked up each time that the path is bound.
  static let mostHops = 64
  /// What is asked of a collection's members is bound, compiled and evaluated within what is asked
  /// of the collection's owner, which takes stack for each: so many fit into
  /// 1 MiB even in builds without optimisation.
  static let mostCollections = 16

  /// The limits for predicates from outside, which may name some properties and no others.
  ///
  /// - Parameter properties: Names of properties by entity; see ``PredicateAllowList``.
  public static func untrusted(allowing properties: PredicateAllowList) -> PredicateLimits {
    var limits: PredicateLimits = .untrusted
    limits.allowedProperties = properties
    return limits
  }

  var allowance: WorkAllowance {
    WorkAllowance(
      timeLimit: timeLimit, elements: maximumElements, valueSize: maximumValueSize)
  }
}
