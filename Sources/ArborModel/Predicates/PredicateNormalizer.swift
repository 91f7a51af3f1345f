/// Brings a bound predicate into the form that planning looks at: a conjunction of predicates that
/// are as small as may be, disjunctions of such conjunctions among them.
///
/// Logic is two-valued, so `NOT` moves inwards over AND and OR, two `NOT`s are none, and `NOT x ==
/// v` is `x != v`. A negated order stays: where a side can be nil, `NOT x < v` is not `x >= v`.
enum PredicateNormalizer {
  /// The members of the conjunction that a node is; none for what is always true.
  static func conjunction(of node: BoundNode) -> [BoundNode] {
    switch normalized(node) {
    case .and(let nodes): nodes
    case .constant(true): []
    case let other: [other]
    }
  }

  private static func normalized(_ node: BoundNode) -> BoundNode {
    switch node {
    case .constant, .comparison, .quantified: node
    case .and(let nodes): conjunction(nodes.map(normalized))
    case .or(let nodes): disjunction(nodes.map(normalized))
    case .not(let node): negated(node)
    }
  }

  /// The normal form of the opposite.
  private static func negated(_ node: BoundNode) -> BoundNode {
    switch node {
    case .constant(let flag): return .constant(!flag)
    case .not(let node): return normalized(node)
    case .and(let nodes): return disjunction(nodes.map(negated))
    case .or(let nodes): return conjunction(nodes.map(negated))
    case .quantified: return .not(node)
    case .comparison(var comparison):
      switch comparison.comparison {
      case .equal: comparison.comparison = .notEqual
      case .notEqual: comparison.comparison = .equal
      default: return .not(node)
      }
      return .comparison(comparison)
    }
  }

  /// AND without conjunctions and truths in it.
  private static func conjunction(_ nodes: [BoundNode]) -> BoundNode {
    var members: [BoundNode] = []
    for node in nodes {
      switch node {
      case .and(let inner): members += inner
      case .constant(true): break
      default: members.append(node)
      }
    }
    return members.isEmpty ? .constant(true) : members.count == 1 ? members[0] : .and(members)
  }

  /// OR without disjunctions and falsehoods in it. What is always true stays beside comparisons
  /// whose arguments have to be checked.
  private static func disjunction(_ nodes: [BoundNode]) -> BoundNode {
    var members: [BoundNode] = []
    var isTrue = false
    for node in nodes {
      switch node {
      case .or(let inner): members += inner
      case .constant(false): continue
      case .constant(true):
        isTrue = true
        members.append(node)
      default: members.append(node)
      }
    }
    if isTrue, !members.contains(where: ComparisonRules.dependsOnArguments) {
      return .constant(true)
    }
    return members.isEmpty ? .constant(false) : members.count == 1 ? members[0] : .or(members)
  }
}
