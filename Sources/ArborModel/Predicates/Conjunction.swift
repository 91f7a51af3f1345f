/// One of the predicates that together are a predicate, with what an index can do for it.
package struct Conjunct: Sendable {
  package let node: BoundNode
  package internal(set) var term: IndexableTerm?
  /// The conjunctions that the conjunct is a disjunction of, where each may open a way to its rows;
  /// else empty.
  package internal(set) var alternatives: [Conjunction] = []
}

/// A predicate in normal form, with its arguments: everything of it has to hold.
package struct Conjunction: Sendable {
  package let conjuncts: [Conjunct]
  package let related: [RelatedCondition]

  package init(conjuncts: [Conjunct], related: [RelatedCondition] = []) {
    self.conjuncts = conjuncts
    self.related = related
  }

  static let never = Conjunction(conjuncts: [Conjunct(node: .constant(false))])
}
