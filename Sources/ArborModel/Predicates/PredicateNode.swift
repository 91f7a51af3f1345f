/// The syntax tree of a predicate, with unresolved names.
///
/// Trees are canonical: conjunctions are not directly nested in conjunctions, nor disjunctions in
/// disjunctions, and a list of constants is a constant. Equal predicates therefore have equal
/// trees.
package indirect enum PredicateNode: Sendable, Hashable {
  case constant(Bool)
  case and([PredicateNode])
  case or([PredicateNode])
  case not(PredicateNode)
  case comparison(PredicateComparison)

  /// Returns the conjunction of predicates, or the constant `true` if there are none.
  package static func all(_ nodes: [PredicateNode]) -> PredicateNode {
    let flat = flattened(nodes) { if case .and(let inner) = $0 { inner } else { nil } }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(true) : .and(flat))
  }

  /// Returns the disjunction of predicates, or the constant `false` if there are none.
  package static func any(_ nodes: [PredicateNode]) -> PredicateNode {
    let flat = flattened(nodes) { if case .or(let inner) = $0 { inner } else { nil } }
    return flat.count == 1 ? flat[0] : (flat.isEmpty ? .constant(false) : .or(flat))
  }

  /// Returns the nodes with nested lists flattened. Usually, no list is nested.
  private static func flattened(
    _ nodes: [PredicateNode], _ inner: (PredicateNode) -> [PredicateNode]?
  ) -> [PredicateNode] {
    guard nodes.contains(where: { inner($0) != nil }) else { return nodes }
    return nodes.flatMap { inner($0) ?? [$0] }
  }
}

/// The quantifier of a comparison whose left side has several values.
package enum ComparisonQualifier: String, Sendable, Hashable, CaseIterable {
  /// At least one member. `SOME` is a synonym.
  case any = "ANY"
  /// Every member; `true` if there are none.
  case all = "ALL"
  /// No member.
  case none = "NONE"
}

package struct PredicateComparison: Sendable, Hashable {
  /// The quantifier for the members of the left side, or `nil` if the left side is a single value.
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
