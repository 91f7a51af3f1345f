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
    let flat = flattened(nodes) { if case .and(let inner) = $0 { inner } else { nil } }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(true) : .and(flat))
  }

  /// Any of several predicates; false of none.
  package static func any(_ nodes: [PredicateNode]) -> PredicateNode {
    let flat = flattened(nodes) { if case .or(let inner) = $0 { inner } else { nil } }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(false) : .or(flat))
  }

  /// Nodes with what some of them hold in their place. Most hold nothing.
  private static func flattened(
    _ nodes: [PredicateNode], _ inner: (PredicateNode) -> [PredicateNode]?
  ) -> [PredicateNode] {
    guard nodes.contains(where: { inner($0) != nil }) else { return nodes }
    return nodes.flatMap { inner($0) ?? [$0] }
  }
}

/// How many members of a to-many left side a comparison is about.
package enum ComparisonQualifier: String, Sendable, Hashable, CaseIterable {
  /// At least one; `SOME` is another word for it.
  case any = "ANY"
  /// Every one; true of none.
  case all = "ALL"
  /// Not a single one.
  case none = "NONE"
}

/// One comparison.
package struct PredicateComparison: Sendable, Hashable {
  /// Which members of the left side are meant; nil where it is one value.
  package var qualifier: ComparisonQualifier?
  package var left: ExpressionNode
  package var comparison: ComparisonOperator
  package var options: ComparisonOptions
  package var right: ExpressionNode
  package var site: PredicateSite

  package init(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    options: ComparisonOptions = [], qualifier: ComparisonQualifier? = nil,
    site: PredicateSite = .none
  ) {
    self.qualifier = qualifier
    self.left = left
    self.comparison = comparison
    self.options = options
    self.right = right
    self.site = site
  }
}
