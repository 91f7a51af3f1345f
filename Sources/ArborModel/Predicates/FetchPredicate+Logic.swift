extension FetchPredicate {
  /// Both conditions. Takes constant time.
  public static func && (left: Self, right: Self) -> Self {
    JoinedPredicate.joining(left, .and, right)
  }

  /// Either condition, or both. Takes constant time.
  public static func || (left: Self, right: Self) -> Self {
    JoinedPredicate.joining(left, .or, right)
  }

  /// The opposite: true of exactly the objects that the condition is false of.
  public static prefix func ! (predicate: Self) -> Self {
    Self(shape: PredicateCache.shape(of: .not, [predicate.shape]), arguments: predicate.arguments)
  }

  /// A condition that every object fulfils.
  public static let `true`: FetchPredicate = "TRUEPREDICATE"

  /// A condition that no object fulfils.
  public static let `false`: FetchPredicate = "FALSEPREDICATE"

  /// The predicate with values for some or all of its `$variables`.
  ///
  /// ```swift
  /// let older: FetchPredicate = "age > $AGE AND company == $COMPANY"
  /// let template = older.substituting(["AGE": 40])
  /// ```
  ///
  /// Names that the predicate does not have are ignored. A variable without a value makes the fetch
  /// that uses the predicate throw.
  ///
  /// - Parameter values: Constants by the names of the variables, without the dollar sign.
  public func substituting(_ values: [String: (any PredicateArgument)?]) -> FetchPredicate {
    let names = shape.variables.filter { values[$0] != nil }
    if names.isEmpty { return self }
    return FetchPredicate(
      shape: shape.binding(names),
      arguments: arguments + names.map { (values[$0] ?? nil)?.predicateValue ?? .null })
  }

  /// The names of the `$variables` that have no value, sorted.
  public var variables: [String] { shape.variables }
}
