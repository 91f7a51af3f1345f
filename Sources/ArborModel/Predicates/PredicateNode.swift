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
