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
