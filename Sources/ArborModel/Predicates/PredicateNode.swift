/// A predicate as a tree, names unresolved.
///
/// Trees are canonical: no conjunction lies directly in a conjunction and no disjunction in a
/// disjunction, and a list of constants is a constant. So equal predicates have equal trees.
package indirect enum PredicateNode: Sendable, Hashable {
  case constant(Bool)
  case and([PredicateNode])
  case or([PredicateNode])
  case not(PredicateNode)
  case comparison(PredicateComparison)

  /// All of several predicates; true of none.
  package static func all(_ nodes: [PredicateNode]) -> PredicateNode {
    let flat = nodes.flatMap { node -> [PredicateNode] in
      if case .and(let inner) = node { inner } else { [node] }
    }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(true) : .and(flat))
  }

  /// Any of several predicates; false of none.
  package static func any(_ nodes: [PredicateNode]) -> PredicateNode {
    let flat = nodes.flatMap { node -> [PredicateNode] in
      if case .or(let inner) = node { inner } else { [node] }
    }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(false) : .or(flat))
  }
}

/// One comparison.
package struct PredicateComparison: Sendable, Hashable {
  package var left: ExpressionNode
  package var comparison: ComparisonOperator
  package var options: ComparisonOptions
  package var right: ExpressionNode
  /// Where the operator stands.
  package var site: PredicateSite

  package init(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    options: ComparisonOptions = [], site: PredicateSite = .none
  ) {
    self.left = left
    self.comparison = comparison
    self.options = options
    self.right = right
    self.site = site
  }
}

/// One side of a comparison.
package indirect enum ExpressionNode: Sendable, Hashable {
  case constant(Value)
  /// A value that stands outside the tree: an interpolated one or a format's argument.
  case argument(Int)
  case variable(String, PredicateSite)
  case path(KeyPathNode)
  case list([ExpressionNode])

  /// A list in canonical form: a constant where all its elements are.
  package static func aggregate(_ elements: [ExpressionNode]) -> ExpressionNode {
    var values: [Value] = []
    for element in elements {
      guard case .constant(let value) = element else { return .list(elements) }
      values.append(value)
    }
    return .constant(.list(values))
  }
}

/// A chain of names; no name at all is `SELF`.
package struct KeyPathNode: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    case name(String, PredicateSite)
    /// Names that a `%K` of a format takes from an argument.
    case argument(Int, PredicateSite)
  }

  package var parts: [Part]
  package var site: PredicateSite

  package init(_ parts: [Part], site: PredicateSite = .none) {
    self.parts = parts
    self.site = site
  }

  /// A path of plain names.
  package init(names: [String], site: PredicateSite = .none) {
    self.init(names.map { .name($0, site) }, site: site)
  }
}

extension PredicateNode {
  /// The tree with each leaf of its expressions replaced; lists are made canonical again.
  package func mapLeaves<Failure: Error>(
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> PredicateNode {
    switch self {
    case .constant: return self
    case .not(let node): return .not(try node.mapLeaves(replace))
    case .and(let nodes): return .and(try Self.map(nodes, replace))
    case .or(let nodes): return .or(try Self.map(nodes, replace))
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapLeaves(replace)
      comparison.right = try comparison.right.mapLeaves(replace)
      return .comparison(comparison)
    }
  }

  private static func map<Failure: Error>(
    _ nodes: [PredicateNode], _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> [PredicateNode] {
    var mapped: [PredicateNode] = []
    for node in nodes { mapped.append(try node.mapLeaves(replace)) }
    return mapped
  }

  /// How deep the tree is; a single comparison is 1.
  package var depth: Int {
    switch self {
    case .constant, .comparison: 1
    case .not(let node): node.depth + 1
    case .and(let nodes), .or(let nodes): (nodes.map(\.depth).max() ?? 0) + 1
    }
  }
}

extension ExpressionNode {
  package func mapLeaves<Failure: Error>(
    _ replace: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> ExpressionNode {
    guard case .list(let elements) = self else { return try replace(self) }
    var mapped: [ExpressionNode] = []
    for element in elements { mapped.append(try element.mapLeaves(replace)) }
    return .aggregate(mapped)
  }
}
