/// Traversal of bound trees.
extension BoundNode {
  /// The operands of the node's comparison, its child predicates, and whether the children are in a
  /// scope of their own.
  private var parts: (expressions: [BoundExpression], nodes: [BoundNode], opensScope: Bool) {
    switch self {
    case .constant: ([], [], false)
    case .not(let node): ([], [node], false)
    case .and(let nodes), .or(let nodes): ([], nodes, false)
    case .comparison(let comparison): ([comparison.left, comparison.right], [], false)
    case .quantified(_, let collection, let node): ([.collection(collection)], [node], true)
    }
  }

  /// Returns whether an expression in the tree satisfies a condition. The condition receives the
  /// number of scopes between the tree's root and the expression.
  func contains(depth: Int = 0, where condition: (BoundExpression, _ depth: Int) -> Bool) -> Bool {
    let parts = parts
    return parts.expressions.contains { $0.contains(depth: depth, where: condition) }
      || parts.nodes.contains {
        $0.contains(depth: depth + (parts.opensScope ? 1 : 0), where: condition)
      }
  }

  /// Whether the predicate reads candidates of enclosing scopes, so that it cannot be evaluated by
  /// itself.
  package var readsOuterScopes: Bool { contains { $0.isOuter(at: $1) } }

  /// Whether the predicate is or contains a `MATCHES`.
  var matchesExpressions: Bool { containsComparison { $0.comparison == .matches } }

  /// Returns whether a comparison in the tree satisfies a condition.
  func containsComparison(where condition: (BoundComparison) -> Bool) -> Bool {
    if case .comparison(let comparison) = self, condition(comparison) { return true }
    return parts.nodes.contains { $0.containsComparison(where: condition) }
      || parts.expressions.contains { expression in
        expression.heldNodes.contains { $0.containsComparison(where: condition) }
      }
  }
}

extension BoundExpression {
  /// Returns whether the expression or one of its parts satisfies a condition.
  func contains(depth: Int = 0, where condition: (BoundExpression, _ depth: Int) -> Bool) -> Bool {
    if condition(self, depth) { return true }
    func within(_ expression: BoundExpression, _ added: Int = 0) -> Bool {
      expression.contains(depth: depth + added, where: condition)
    }
    switch self {
    case .path, .constant, .argument, .collection, .slot: return false
    case .decoded(let path, _): return within(.path(path))
    case .list(let elements), .call(_, let elements), .custom(_, let elements, _):
      return elements.contains { within($0) }
    case .each(let base, _, let inner), .follow(let base, _, let inner):
      return within(base) || within(inner, 1)
    case .union(_, let base), .closure(let base, _), .cast(let base, _), .part(let base, _, _):
      return within(base)
    case .ternary(let node, let first, let second):
      return node.contains(depth: depth, where: condition) || within(first) || within(second)
    case .subquery(let base, _, let node):
      return within(base) || node.contains(depth: depth + 1, where: condition)
    case .filter(let base, _, let node):
      return within(base) || node.contains(depth: depth, where: condition)
    case .element(let base, let position):
      if case .at(let index) = position, within(index) { return true }
      return within(base)
    }
  }

  /// Returns whether the expression itself, regardless of its parts, refers to a candidate of an
  /// enclosing scope.
  fileprivate func isOuter(at depth: Int) -> Bool {
    switch self {
    case .path(let path): path.scope > depth
    case .collection(let collection): collection.scope > depth
    default: false
    }
  }

  /// Whether the expression reads candidates of enclosing scopes.
  package var readsOuterScopes: Bool { contains { $0.isOuter(at: $1) } }

  /// Whether the expression has the same value for the whole fetch.
  package var isConstant: Bool {
    !contains { expression, _ in
      switch expression {
      case .path, .collection, .slot, .custom, .call(.random, _), .call(.randomn, _),
        .call(.noindex, _), .each, .follow, .ternary, .subquery, .closure, .filter, .part:
        true
      default: false
      }
    }
  }

  var hasArguments: Bool {
    contains { expression, _ in if case .argument = expression { true } else { false } }
  }

  /// Returns the number of expressions in the tree, up to a maximum. Predicates are not counted.
  func size(upTo most: Int) -> Int {
    var count = 0
    _ = contains { _, _ in
      count += 1
      return count >= most
    }
    return count
  }

  /// The predicates that the expression contains directly, from left to right. Predicates nested in
  /// these are excluded, so that a recursive traversal visits each one once.
  var heldNodes: [BoundNode] {
    switch self {
    case .path, .constant, .argument, .collection, .slot, .decoded: []
    case .list(let elements), .call(_, let elements), .custom(_, let elements, _):
      elements.flatMap(\.heldNodes)
    case .each(let base, _, let inner), .follow(let base, _, let inner):
      base.heldNodes + inner.heldNodes
    case .union(_, let base), .closure(let base, _), .cast(let base, _), .part(let base, _, _):
      base.heldNodes
    case .ternary(let node, let first, let second): [node] + first.heldNodes + second.heldNodes
    case .subquery(let base, _, let node), .filter(let base, _, let node): base.heldNodes + [node]
    case .element(let base, .at(let index)): base.heldNodes + index.heldNodes
    case .element(let base, _): base.heldNodes
    }
  }
}

extension BoundComparison {
  /// The predicates contained in the operands; see ``BoundExpression/heldNodes``.
  var heldNodes: [BoundNode] { left.heldNodes + right.heldNodes }
}
