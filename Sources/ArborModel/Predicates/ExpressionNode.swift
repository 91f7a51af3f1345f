/// A computed value: an operand of a comparison, or a part of one.
///
/// Trees are canonical. Use ``aggregate(_:)``, ``member(of:_:)`` and ``casting(_:to:_:)`` to keep
/// them so.
package indirect enum ExpressionNode: Sendable, Hashable {
  case constant(PropertyValue)
  /// A value from outside the tree: an interpolated value or a format argument.
  case argument(Int)
  case variable(String, PredicateSite)
  /// A path from `SELF`.
  case path(KeyPathNode)
  /// A path relative to the value of another expression.
  case member(ExpressionNode, KeyPathNode)
  case list([ExpressionNode])
  /// Arithmetic, bitwise and set operators, and named functions.
  case call(PredicateFunction, [ExpressionNode], PredicateSite)
  /// `FUNCTION(target, 'name:', …)`: a registered function.
  case custom(ExpressionNode, name: String, [ExpressionNode], PredicateSite)
  case cast(ExpressionNode, to: String, PredicateSite)
  case ternary(PredicateNode, ExpressionNode, ExpressionNode)
  /// The members of a collection that satisfy a predicate. The variable represents the member.
  case subquery(ExpressionNode, variable: String, PredicateNode, PredicateSite)
  case element(ExpressionNode, ElementPosition, PredicateSite)
  /// `$x := e`: the value of `e`. To the right of the assignment, `$x` has this value.
  case assignment(String, ExpressionNode)

  /// Returns a list in canonical form: a constant if all of its elements are constants.
  package static func aggregate(_ elements: [ExpressionNode]) -> ExpressionNode {
    var values: [PropertyValue] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      guard case .constant(let value) = element else { return .list(elements) }
      values.append(value)
    }
    return .constant(.list(values))
  }

  /// Returns the canonical form of a path that is evaluated on an expression: if the expression
  /// ends with a path, the two paths are joined.
  package static func member(of base: ExpressionNode, _ path: KeyPathNode) -> ExpressionNode {
    if path.parts.isEmpty { return base }
    switch base {
    case .path(let first): return .path(KeyPathNode(first.parts + path.parts, site: first.site))
    case .member(let base, let first):
      return .member(base, KeyPathNode(first.parts + path.parts, site: first.site))
    default: return .member(base, path)
    }
  }

  /// Returns a cast in canonical form: a constant if the base is a constant and the type has
  /// literals.
  package static func casting(
    _ base: ExpressionNode, to type: String, _ site: PredicateSite
  ) -> ExpressionNode {
    if case .constant(let value) = base, let cast = PredicateLiteral.cast(value, to: type) {
      return .constant(cast)
    }
    return .cast(base, to: type, site)
  }
}

/// The subscript after a list.
package enum ElementPosition: Sendable, Hashable {
  /// An index from 0, or the key of a dictionary.
  case at(ExpressionNode)
  case first
  case last
  case size
}
