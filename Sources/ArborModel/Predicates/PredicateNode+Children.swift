/// Traversal of trees.
extension PredicateNode {
  /// The depth of the tree. A comparison of simple values has depth 1.
  package var depth: Int {
    switch self {
    case .constant: 1
    case .comparison(let comparison): max(comparison.left.depth, comparison.right.depth) + 1
    case .not(let node): node.depth + 1
    case .and(let nodes), .or(let nodes): (nodes.map(\.depth).max() ?? 0) + 1
    }
  }

  /// Calls a closure with every operand of a comparison, from left to right.
  package func forEachSide(_ body: (ExpressionNode) -> Void) {
    switch self {
    case .constant: break
    case .not(let node): node.forEachSide(body)
    case .and(let nodes), .or(let nodes): for node in nodes { node.forEachSide(body) }
    case .comparison(let comparison):
      body(comparison.left)
      body(comparison.right)
    }
  }
}

extension ExpressionNode {
  /// The depth of the expression. A simple value has depth 0.
  package var depth: Int {
    var deepest = -1
    forEachChild { deepest = max(deepest, $0.depth) }
    if let condition { deepest = max(deepest, condition.depth) }
    return deepest + 1
  }

  /// The predicate that the expression itself contains, or `nil` if there isn't one.
  package var condition: PredicateNode? {
    switch self {
    case .ternary(let condition, _, _), .subquery(_, variable: _, let condition, _): condition
    default: nil
    }
  }

  /// Calls a closure with every direct subexpression, from left to right, except those in the
  /// ``condition``.
  package func forEachChild(_ body: (ExpressionNode) -> Void) {
    switch self {
    case .constant, .argument, .variable, .path: break
    case .member(let base, _), .cast(let base, to: _, _), .assignment(_, let base),
      .subquery(let base, variable: _, _, _):
      body(base)
    case .list(let elements), .call(_, let elements, _): elements.forEach(body)
    case .custom(let target, name: _, let operands, _):
      body(target)
      operands.forEach(body)
    case .ternary(_, let first, let second):
      body(first)
      body(second)
    case .element(let base, let position, _):
      body(base)
      if case .at(let index) = position { body(index) }
    }
  }
}
