internal import ArborLocks

/// The shape of a predicate: its text parsed once, whatever constants it is then used with.
///
/// Shapes are shared: two predicates with one text and different interpolated values have the same.
/// What is made from a shape and nothing else, such as its binding to an entity, is kept with it.
package final class ParsedPredicate: Sendable {
  /// What was written, and how it was to be read; nil for a shape made from others.
  package struct Source: Sendable {
    package let text: PredicateText
    package let isFormat: Bool
    package let limits: PredicateLimits
  }

  package enum Composition: Sendable, Hashable {
    case and, or, not
  }

  package let source: Source?
  /// The tree, or why none exists.
  package let outcome: Result<PredicateNode, ArborError>
  /// How many arguments the tree's `.argument` leaves are taken from.
  package let argumentCount: Int
  /// The names of the tree's `$variables`, sorted.
  package let variables: [String]
  /// The names of the variables that the tree assigns for what follows it.
  let assigned: [String]
  package let allowance: WorkAllowance
  /// Which arguments are key paths (`%K`).
  package let pathArguments: [Int]

  let bindings = Lock<[any ShapeBinding]>([])
  let derivations = Lock<[[String]: ParsedPredicate]>([:])

  /// Makes a shape.
  ///
  /// - Parameter isOpen: Whether the tree may hold variables or `%K`s, so that it is searched for
  ///   them.
  package init(
    source: Source?, outcome: Result<PredicateNode, ArborError>, argumentCount: Int,
    isOpen: Bool = true, allowance: WorkAllowance = WorkAllowance()
  ) {
    self.source = source
    self.outcome = outcome
    self.argumentCount = argumentCount
    self.allowance = source.map { allowance.narrowed(by: $0.limits.allowance) } ?? allowance
    var open = OpenLeaves()
    if isOpen, case .success(let node) = outcome { open.visit(node) }
    variables = open.variables.sorted()
    assigned = open.bound
    pathArguments = open.pathArguments.sorted()
  }
}

/// What has become of a shape for one entity. Shapes keep it and know no more of it: reading texts
/// does not depend on models.
protocol ShapeBinding: AnyObject, Sendable {
  func isBound(to entity: AnyObject) -> Bool
}

extension ParsedPredicate {
  /// The shape of a text that is read anew, past the cache of shapes.
  package static func reading(
    _ text: String, limits: PredicateLimits = .standard
  ) -> ParsedPredicate {
    PredicateParser.parse(
      PredicateText(segments: [text], allowed: limits.allowedProperties), isFormat: false,
      limits: limits)
  }
}
