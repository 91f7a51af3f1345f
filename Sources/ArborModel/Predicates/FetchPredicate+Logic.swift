extension FetchPredicate {
  /// Returns a predicate that is satisfied if both predicates are.
  ///
  /// - Complexity: O(1).
  public static func && (left: Self, right: Self) -> Self {
    JoinedPredicate.joining(left, .and, right)
  }

  /// Returns a predicate that is satisfied if at least one of the predicates is.
  ///
  /// - Complexity: O(1).
  public static func || (left: Self, right: Self) -> Self {
    JoinedPredicate.joining(left, .or, right)
  }

  /// Returns the negation, which is satisfied by exactly the objects that don't satisfy the
  /// predicate.
  public static prefix func ! (predicate: Self) -> Self {
    Self(shape: PredicateCache.shape(of: .not, [predicate.shape]), arguments: predicate.arguments)
  }

  /// A predicate that every object satisfies.
  public static let `true`: FetchPredicate = "TRUEPREDICATE"

  /// A predicate that no object satisfies.
  public static let `false`: FetchPredicate = "FALSEPREDICATE"

  /// Returns the predicate with values for some or all of its `$variables`.
  ///
  /// ```swift
  /// let older: FetchPredicate = "age > $AGE AND company == $COMPANY"
  /// let template = older.substituting(["AGE": 40])
  /// ```
  ///
  /// Names that don't occur in the predicate are ignored. A fetch throws if a variable in its
  /// predicate has no value.
  ///
  /// - Parameter values: Constants by variable name, without the dollar sign.
  public func substituting(_ values: [String: (any PredicateArgument)?]) -> FetchPredicate {
    let names = shape.variables.filter { values[$0] != nil }
    if names.isEmpty { return self }
    return FetchPredicate(
      shape: shape.binding(names),
      arguments: arguments + names.map { (values[$0] ?? nil)?.predicateValue ?? .null })
  }

  /// The names of the `$variables` without a value, sorted.
  public var variables: [String] { shape.variables }
}
