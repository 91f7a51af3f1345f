public import ArborFoundation
public import ArborModel

extension FetchPredicate {
  /// Creates a predicate from Foundation's typed predicate.
  ///
  /// ```swift
  /// let oldest = 30
  /// let young = try FetchPredicate(
  ///   #Predicate<Employee> { $0.age < oldest && $0.company?.name == "Foo Inc." })
  /// ```
  ///
  /// The predicate's expression is translated rather than evaluated. The fetch uses indexes as for
  /// any other predicate and compares values as ``FetchPredicate`` does: comparisons with `nil` are
  /// false, except for `==` and `!=`; strings are equal if their code points are equal; no string
  /// contains or starts with an empty string.
  ///
  /// A captured object is compared by identity: `$0.company == company`,
  /// `companies.contains($0.company)`.
  ///
  /// The supported expressions are comparisons, `&&`, `||`, `!`, `? :`, arithmetic, optional
  /// chaining, `??`, force unwrapping, `flatMap`, `contains`, `starts(with:)`, `contains(where:)`,
  /// `allSatisfy`, `filter`, `count`, `isEmpty`, `first`, `last`, `min()`, `max()`, subscripts and
  /// ranges.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` for any other expression, and for properties that
  ///   are not in the classes' `entityDescription`s. The error is thrown before anything is
  ///   fetched.
  public init<T: ManagedObject>(_ predicate: Predicate<T>) throws(ArborError) {
    var translation = PredicateTranslation(root: predicate.variable.key)
    let node = try translation.condition(predicate.expression)
    try self.init(translated: node, arguments: translation.arguments)
  }

  /// Creates a predicate from a typed predicate. If it cannot be translated, the fetch that uses it
  /// throws.
  package init<T: ManagedObject>(deferring predicate: Predicate<T>) {
    do throws(ArborError) { try self.init(predicate) } catch { self.init(failing: error) }
  }

  /// Creates a predicate from a translated tree. The tree is formatted as text, so that predicates
  /// that differ only in constants have the same shape.
  init(translated node: PredicateNode, arguments: [PropertyValue]) throws(ArborError) {
    // The arguments in the order of their appearance in the text.
    var ordered: [PropertyValue] = []
    let text = PredicatePrinter { index in
      ordered.append(arguments[index])
      return "%@"
    }.text(of: node)
    try self.init(format: text, arguments: ordered)
  }
}
