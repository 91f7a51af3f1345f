/// Rewriting of bound trees.
extension BoundExpression {
  /// Returns the expression with parts replaced.
  ///
  /// - Parameters:
  ///   - depth: The number of scopes between the tree's root and the expression.
  ///   - replace: A closure that returns the replacement for an expression, or `nil` to keep the
  ///     expression with its parts replaced. It receives the number of scopes between the tree's root
  ///     and the expression.
  func mapped(
    depth: Int = 0, _ replace: (BoundExpression, _ depth: Int) -> BoundExpression?
  ) -> BoundExpression {
    if let replacement = replace(self, depth) { return replacement }
    func inner(_ expression: BoundExpression, _ added: Int = 0) -> BoundExpression {
      expression.mapped(depth: depth + added, replace)
    }
    switch self {
    case .path, .constant, .argument, .slot, .collection, .decoded: return self
    case .list(let elements): return .list(elements.map { inner($0) })
    case .call(let function, let operands): return .call(function, operands.map { inner($0) })
    case .custom(let name, let operands, let site):
      return .custom(name, operands.map { inner($0) }, site)
    case .each(let base, let entity, let value):
      return .each(inner(base), of: entity, inner(value, 1))
    case .follow(let base, let entity, let value):
      return .follow(inner(base), of: entity, inner(value, 1))
    case .union(let union, let base): return .union(union, inner(base))
    case .closure(let base, let step): return .closure(inner(base), step)
    case .cast(let base, let type): return .cast(inner(base), type)
    case .part(let base, let name, let kind): return .part(inner(base), name, kind)
    case .ternary(let node, let first, let second):
      return .ternary(node.mapped(depth: depth, replace), inner(first), inner(second))
    case .subquery(let base, let entity, let node):
      return .subquery(inner(base), of: entity, node.mapped(depth: depth + 1, replace))
    case .filter(let base, let slot, let node):
      return .filter(inner(base), slot, node.mapped(depth: depth, replace))
    case .element(let base, .at(let index)): return .element(inner(base), .at(inner(index)))
    case .element(let base, let position): return .element(inner(base), position)
    }
  }
}

extension BoundNode {
  /// Returns the predicate with expressions replaced; see ``BoundExpression/mapped(depth:_:)``.
  func mapped(
    depth: Int = 0, _ replace: (BoundExpression, _ depth: Int) -> BoundExpression?
  ) -> BoundNode {
    switch self {
    case .constant: return self
    case .not(let node): return .not(node.mapped(depth: depth, replace))
    case .and(let nodes): return .and(nodes.map { $0.mapped(depth: depth, replace) })
    case .or(let nodes): return .or(nodes.map { $0.mapped(depth: depth, replace) })
    case .comparison(var comparison):
      comparison.left = comparison.left.mapped(depth: depth, replace)
      comparison.right = comparison.right.mapped(depth: depth, replace)
      return .comparison(comparison)
    case .quantified(let quantifier, let collection, let node):
      var members = collection
      if case .collection(let replaced)? = replace(.collection(collection), depth) {
        members = replaced
      }
      return .quantified(quantifier, members, node.mapped(depth: depth + 1, replace))
    }
  }
}
