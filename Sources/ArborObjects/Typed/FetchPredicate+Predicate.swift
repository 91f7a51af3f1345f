public import ArborModel
public import Foundation

extension FetchPredicate {
  /// Reads a condition from Foundation's typed predicate.
  ///
  /// ```swift
  /// let oldest = 30
  /// let young = try FetchPredicate(
  ///   #Predicate<Employee> { $0.age < oldest && $0.company?.name == "Foo Inc." })
  /// ```
  ///
  /// The predicate's expression is read, not run: the fetch uses indexes as for any other
  /// condition, and compares as ``FetchPredicate`` does. Comparisons with nil are false, except
  /// `==` and `!=`; texts are equal where their code points are; an empty text is contained in, and
  /// begins, nothing.
  ///
  /// A captured object is compared by its identity: `$0.company == company`,
  /// `companies.contains($0.company)`.
  ///
  /// Expressed are comparisons, `&&`, `||`, `!`, `? :`, arithmetic, optional chaining, `??`, `!`
  /// behind an optional, `flatMap`, `contains`, `starts(with:)`, `contains(where:)`, `allSatisfy`,
  /// `filter`, `count`, `isEmpty`, `first`, `last`, `min()`, `max()`, subscripts and ranges.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` for everything else, and for properties that the
  ///   classes' `entityDescription`s do not name, before anything is fetched.
  public init<T: ManagedObject>(_ predicate: Predicate<T>) throws(ArborError) {
    var translation = PredicateTranslation(root: predicate.variable.key)
    let node = try translation.condition(predicate.expression)
    try self.init(translated: node, arguments: translation.arguments)
  }

  /// Reads a condition from a typed predicate; what a store cannot express throws from the fetch
  /// that uses it.
  package init<T: ManagedObject>(deferring predicate: Predicate<T>) {
    do throws(ArborError) { try self.init(predicate) } catch { self.init(failing: error) }
  }

  /// A predicate from a tree that was just made. By way of its text, it has the shape of all others
  /// that say the same with other constants.
  init(translated node: PredicateNode, arguments: [PropertyValue]) throws(ArborError) {
    // In the order in which the text names them.
    var ordered: [PropertyValue] = []
    let text = PredicatePrinter { index in
      ordered.append(arguments[index])
      return "%@"
    }.text(of: node)
    try self.init(format: text, arguments: ordered)
  }
}
