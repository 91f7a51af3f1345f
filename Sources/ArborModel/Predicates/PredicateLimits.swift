/// Limits on the size of a predicate, and on the resources that evaluating it may use.
///
/// ```swift
/// let filter = try FetchPredicate(format: textFromTheNetwork, limits: .untrusted)
/// ```
public struct PredicateLimits: Sendable, Hashable {
  /// The maximum length of the text in UTF-8 bytes.
  public var maximumLength: Int
  /// The maximum nesting depth of parentheses, lists, calls, operators and `NOT`. Values above 200
  /// are treated as 200.
  public var maximumDepth: Int
  /// The maximum number of comparisons, operators, calls, arguments and list elements.
  public var maximumTerms: Int
  /// The maximum number of names in one key path. Values above 64 are treated as 64, which is also
  /// the maximum number of relationships that one expression follows. To-many relationships,
  /// including those of `SUBQUERY`s, can be nested at most 16 deep.
  public var maximumHops: Int
  /// A Boolean value that indicates whether `MATCHES` is allowed. A regular expression can take up
  /// to 20 million steps, about half a second, for each string.
  public var allowsRegularExpressions: Bool
  /// A Boolean value that indicates whether `FUNCTION` is allowed, which calls functions that the
  /// program has registered.
  public var allowsCustomFunctions: Bool
  /// The properties that the predicate may use, or `nil` for all.
  public var allowedProperties: PredicateAllowList?
  /// The maximum number of collection elements that one operation evaluates, or `nil` for no limit.
  /// An element counts every time it is visited: an element of a related collection once for each
  /// object that the collection is evaluated for, and an element of a list in the text each time
  /// the list is computed or searched.
  ///
  /// An operation that exceeds the limit throws ``ArborError`` `limitExceeded`.
  public var maximumElements: Int?
  /// The maximum size of the values that an operation holds while computing: the bytes of strings
  /// and data, plus one per collection element.
  ///
  /// An operation that exceeds the limit throws ``ArborError`` `limitExceeded`.
  public var maximumValueSize: Int
  /// The maximum work that one operation does for computing and comparing values, or `nil` for no
  /// limit. A unit of work takes roughly a nanosecond. Every function, cast, comparison and copy
  /// counts in proportion to the length of its operands: folding the case of a string counts about
  /// 60 units for each byte, and arithmetic with a decimal about 3,000.
  ///
  /// Constant expressions may need at most 100 million units if there is a limit. Reading and
  /// skipping the rows of a fetch doesn't count. An operation that exceeds the limit
  /// throws ``ArborError`` `limitExceeded`.
  public var maximumWork: Int?
  /// The maximum duration of one operation, or `nil` for no limit. An operation that takes longer
  /// throws ``ArborError`` `deadlineExceeded`. A deadline of the context and a time limit of the
  /// request apply in addition.
  public var timeLimit: Duration?

  /// Creates limits.
  public init(
    maximumLength: Int = 64 << 10, maximumDepth: Int = 64, maximumTerms: Int = 10_000,
    maximumHops: Int = 64, allowsRegularExpressions: Bool = true,
    allowsCustomFunctions: Bool = true, allowedProperties: PredicateAllowList? = nil,
    maximumElements: Int? = nil, maximumValueSize: Int = 16 << 20, maximumWork: Int? = nil,
    timeLimit: Duration? = nil
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
    self.maximumWork = maximumWork
    self.timeLimit = timeLimit
  }

  /// The limits for the program's own predicates: 64 KiB of text, depth 64, 10,000 terms, and
  /// computed values of up to 16 MiB.
  public static let standard = PredicateLimits()

  /// The limits for untrusted predicates. They are the standard limits, except that key paths may
  /// have at most 16 names, `MATCHES` and `FUNCTION` are not allowed, and an operation may evaluate
  /// at most one million collection elements, do at most one billion units of work, and take at most
  /// 10 seconds.
  public static let untrusted = PredicateLimits(
    maximumHops: 16, allowsRegularExpressions: false, allowsCustomFunctions: false,
    maximumElements: 1_000_000, maximumWork: 1_000_000_000, timeLimit: .seconds(10))

  /// The upper bound of `maximumHops`. It is limited, because each name is looked up whenever the
  /// path is bound.
  static let maximumPathLength = 64
  /// The maximum nesting of collections. Binding, compiling and evaluating a condition on the
  /// members of a collection recurses inside that of the collection's owner. This depth fits into a
  /// stack of 1 MiB, even without optimization.
  static let maximumCollectionDepth = 16

  /// Returns the limits for untrusted predicates that may use only some properties.
  ///
  /// - Parameter properties: The allowed properties by entity; see ``PredicateAllowList``.
  public static func untrusted(allowing properties: PredicateAllowList) -> PredicateLimits {
    var limits: PredicateLimits = .untrusted
    limits.allowedProperties = properties
    return limits
  }

  var allowance: WorkAllowance {
    WorkAllowance(
      timeLimit: timeLimit, elements: maximumElements, valueSize: maximumValueSize,
      work: maximumWork)
  }
}
