/// Brings a bound predicate into the form that planning looks at: a conjunction of predicates that
/// are as small as may be.
///
/// Logic is two-valued, so `NOT` moves inwards over AND and OR, two `NOT`s are none, and `NOT x == v`
/// is `x != v`. A negated order stays: where a side can be nil, `NOT x < v` is not `x >= v`.
struct PredicateNormalizer {
  let arguments: [Value]
  let environment: PredicateEnvironment

  /// The members of the conjunction that a node is; `FALSEPREDICATE` alone where one never holds.
  func conjuncts(of node: BoundNode) -> [Conjunct] {
    var members: [BoundNode] = []
    flatten(normalized(node), into: &members)
    var conjuncts: [Conjunct] = []
    for member in members {
      switch conjunct(member) {
      case .some(let conjunct):
        if case .constant(false) = conjunct.node { return [conjunct] }
        conjuncts.append(conjunct)
      case nil: continue
      }
    }
    return conjuncts
  }

  private func flatten(_ node: BoundNode, into members: inout [BoundNode]) {
    if case .and(let nodes) = node {
      for node in nodes { flatten(node, into: &members) }
    } else {
      members.append(node)
    }
  }

  private func normalized(_ node: BoundNode) -> BoundNode {
    switch node {
    case .constant, .comparison: node
    case .and(let nodes): .and(nodes.map(normalized))
    case .or(let nodes): .or(nodes.map(normalized))
    case .not(let node): negated(node)
    }
  }

  /// The normal form of the opposite.
  private func negated(_ node: BoundNode) -> BoundNode {
    switch node {
    case .constant(let flag): return .constant(!flag)
    case .not(let node): return normalized(node)
    case .and(let nodes): return .or(nodes.map(negated))
    case .or(let nodes): return .and(nodes.map(negated))
    case .comparison(let comparison):
      let opposite: ComparisonOperator
      switch comparison.comparison {
      case .equal: opposite = .notEqual
      case .notEqual: opposite = .equal
      default: return .not(node)
      }
      return .comparison(
        BoundComparison(
          left: comparison.left, comparison: opposite, options: comparison.options,
          right: comparison.right, site: comparison.site))
    }
  }

  /// A member with what an index can do for it; nil for one that always holds.
  private func conjunct(_ node: BoundNode) -> Conjunct? {
    switch node {
    case .constant(true): return nil
    case .comparison(let comparison):
      switch IndexableTermMaker(arguments: arguments, environment: environment).term(of: comparison)
      {
      case .never: return Conjunct(node: .constant(false))
      case .term(let term): return Conjunct(node: node, term: term)
      case nil: return Conjunct(node: node)
      }
    default: return Conjunct(node: node)
    }
  }
}

extension BoundPredicate {
  /// The predicate as a conjunction, each member with what an index can do for it: `NOT` moved
  /// inwards where that is sound, nested conjunctions dissolved, comparisons decided that no record
  /// fulfils. An empty result is true of every object.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit its comparison.
  package func conjuncts(
    arguments: [Value], environment: PredicateEnvironment
  ) throws(ArborError) -> [Conjunct] {
    try ComparisonRules.check(root, arguments: arguments)
    return PredicateNormalizer(arguments: arguments, environment: environment).conjuncts(of: root)
  }
}
