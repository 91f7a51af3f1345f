internal import Synchronization

/// Resolves the names of a predicate against an entity.
package enum PredicateBinder {
  /// How many entities a shape keeps its binding to.
  private static let keptBindings = 8

  /// Binds a predicate to an entity. A shape's binding is kept with it, so that doing it again
  /// costs a look-up.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the text does not parse, a name is unknown,
  ///   a path cannot be followed, a variable is unbound, or an operator does not fit its sides.
  package static func bind(
    _ predicate: FetchPredicate, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    let shape = predicate.shape
    let known = shape.bindings.withLock { bindings in bindings.first { $0.entity === entity } }
    if let known { return known }
    let node = try predicate.parsed.outcome.get()
    let bound = BoundPredicate(
      entity: entity, root: try PredicateBinding(entity: entity, schema: schema).bind(node))
    shape.bindings.withLock { bindings in
      if bindings.count >= keptBindings { bindings.removeFirst() }
      bindings.append(bound)
    }
    return bound
  }
}

/// The work of binding one predicate.
private struct PredicateBinding {
  let entity: EntitySchema
  let schema: ModelSchema

  func bind(_ node: PredicateNode) throws(ArborError) -> BoundNode {
    switch node {
    case .constant(let flag): return .constant(flag)
    case .and(let nodes): return .and(try bind(nodes))
    case .or(let nodes): return .or(try bind(nodes))
    case .not(let node): return .not(try bind(node))
    case .comparison(let comparison):
      try checkSupport(of: comparison)
      let bound = BoundComparison(
        left: try bind(comparison.left), comparison: comparison.comparison,
        options: comparison.options, right: try bind(comparison.right), site: comparison.site)
      try ComparisonRules.check(bound, arguments: nil)
      return .comparison(bound)
    }
  }

  /// Refuses what has no bound form.
  private func checkSupport(of comparison: PredicateComparison) throws(ArborError) {
    if let qualifier = comparison.qualifier {
      throw unsupported(qualifier.rawValue, comparison.site)
    }
    let isSupported =
      switch comparison.comparison {
      case .tokenMatches, .utiConformsTo, .utiEquals: false
      default: true
      }
    if !isSupported { throw unsupported(comparison.comparison.rawValue, comparison.site) }
    if comparison.options.contains(.words) { throw unsupported("The option w", comparison.site) }
  }

  private func unsupported(_ construct: String, _ site: PredicateSite) -> ArborError {
    site.error("\(construct) is not supported; state the condition without it.")
  }

  private func bind(_ nodes: [PredicateNode]) throws(ArborError) -> [BoundNode] {
    var bound: [BoundNode] = []
    for node in nodes { bound.append(try bind(node)) }
    return bound
  }

  private func bind(_ expression: ExpressionNode) throws(ArborError) -> BoundExpression {
    switch expression {
    case .constant(let value): return .constant(value)
    case .argument(let index): return .argument(index)
    case .path(let path): return .path(try KeyPathBinder.bind(path, to: entity, in: schema))
    case .variable(let name, let site):
      throw site.error(
        "The variable $\(name) has no value; give it one with substituting([\"\(name)\": …]).")
    case .list(let elements):
      var bound: [BoundExpression] = []
      for element in elements { bound.append(try bind(element)) }
      return .list(bound)
    case .call(let function, _, let site): throw unsupported(function.name, site)
    case .custom(_, name: _, _, let site): throw unsupported("FUNCTION", site)
    case .cast(_, to: _, let site): throw unsupported("CAST", site)
    case .subquery(_, variable: _, _, let site): throw unsupported("SUBQUERY", site)
    case .element(_, _, let site): throw unsupported("An index in brackets", site)
    case .member(_, let path): throw unsupported("A path behind an expression", path.site)
    case .ternary: throw unsupported("TERNARY", .none)
    case .assignment: throw unsupported("An assignment", .none)
    }
  }
}
