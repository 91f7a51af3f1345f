/// Rewriting of leaves: constants, arguments, variables and paths.
///
/// Variables that a `SUBQUERY` or an assignment inside the tree binds are not leaves, because they
/// have no meaning outside the tree.
extension PredicateNode {
  /// Returns the tree with each leaf of its expressions replaced, in canonical form.
  ///
  /// - Parameters:
  ///   - path: A closure that returns the replacement for a path that follows an expression, such
  ///     as `$x.name`.
  ///   - replace: A closure that returns the replacement for a leaf.
  package func mapLeaves<Failure: Error>(
    path: (KeyPathNode) -> KeyPathNode = { $0 },
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> PredicateNode {
    var scope: [String] = []
    return try mapLeaves(&scope, path, replace)
  }

  fileprivate func mapLeaves<Failure: Error>(
    _ scope: inout [String], _ path: (KeyPathNode) -> KeyPathNode,
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> PredicateNode {
    switch self {
    case .constant: return self
    case .not(let node): return .not(try node.mapLeaves(&scope, path, replace))
    case .and(let nodes): return .and(try Self.map(nodes, &scope, path, replace))
    case .or(let nodes): return .or(try Self.map(nodes, &scope, path, replace))
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapLeaves(&scope, path, replace)
      comparison.right = try comparison.right.mapLeaves(&scope, path, replace)
      return .comparison(comparison)
    }
  }

  private static func map<Failure: Error>(
    _ nodes: [PredicateNode], _ scope: inout [String], _ path: (KeyPathNode) -> KeyPathNode,
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> [PredicateNode] {
    var mapped: [PredicateNode] = []
    for node in nodes { mapped.append(try node.mapLeaves(&scope, path, replace)) }
    return mapped
  }
}

extension ExpressionNode {
  /// Returns the expression with each leaf replaced; see ``PredicateNode/mapLeaves(path:_:)``.
  package func mapLeaves<Failure: Error>(
    path: (KeyPathNode) -> KeyPathNode = { $0 },
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> ExpressionNode {
    var scope: [String] = []
    return try mapLeaves(&scope, path, replace)
  }

  fileprivate func mapLeaves<Failure: Error>(
    _ scope: inout [String], _ path: (KeyPathNode) -> KeyPathNode,
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> ExpressionNode {
    switch self {
    case .constant, .argument, .path: return try replace(self)
    case .variable(let name, _): return scope.contains(name) ? self : try replace(self)
    case .list(let elements): return .aggregate(try Self.map(elements, &scope, path, replace))
    case .member(let base, let names):
      return .member(of: try base.mapLeaves(&scope, path, replace), path(names))
    case .call(let function, let operands, let site):
      return .call(function, try Self.map(operands, &scope, path, replace), site)
    case .custom(let target, let name, let operands, let site):
      let target = try target.mapLeaves(&scope, path, replace)
      let operands = try Self.map(operands, &scope, path, replace)
      return .custom(target, name: name, operands, site)
    case .cast(let base, let type, let site):
      return .casting(try base.mapLeaves(&scope, path, replace), to: type, site)
    case .ternary(let condition, let first, let second):
      let condition = try condition.mapLeaves(&scope, path, replace)
      let first = try first.mapLeaves(&scope, path, replace)
      return .ternary(condition, first, try second.mapLeaves(&scope, path, replace))
    case .subquery(let base, let variable, let condition, let site):
      let base = try base.mapLeaves(&scope, path, replace)
      // Inner bindings are visible only inside.
      var inner = scope + [variable]
      let condition = try condition.mapLeaves(&inner, path, replace)
      return .subquery(base, variable: variable, condition, site)
    case .element(let base, let position, let site):
      let base = try base.mapLeaves(&scope, path, replace)
      guard case .at(let index) = position else { return .element(base, position, site) }
      return .element(base, .at(try index.mapLeaves(&scope, path, replace)), site)
    case .assignment(let name, let value):
      let value = try value.mapLeaves(&scope, path, replace)
      scope.append(name)
      return .assignment(name, value)
    }
  }

  private static func map<Failure: Error>(
    _ nodes: [ExpressionNode], _ scope: inout [String], _ path: (KeyPathNode) -> KeyPathNode,
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> [ExpressionNode] {
    var mapped: [ExpressionNode] = []
    mapped.reserveCapacity(nodes.count)
    for node in nodes { mapped.append(try node.mapLeaves(&scope, path, replace)) }
    return mapped
  }
}
