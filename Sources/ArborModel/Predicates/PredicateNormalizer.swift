/// Conversion of bound predicates to the normal form for query planning: a conjunction of minimal
/// predicates, which can include disjunctions of such conjunctions.
///
/// Logic is two-valued, so `NOT` is pushed down through AND and OR, double negation is removed, and
/// `NOT x == v` becomes `x != v`. Negated order comparisons remain: if an operand can be `nil`,
/// `NOT x < v` is not equivalent to `x >= v`.
enum PredicateNormalizer {
  /// Returns the members of a node's conjunction, or an empty array if the node's normal form is
  /// the constant `true`.
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

  /// Returns the normal form of the negation.
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

  /// Returns a conjunction without nested conjunctions and `true` constants.
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

  /// Returns a disjunction without nested disjunctions and `false` constants. A `true` constant is
  /// kept next to comparisons whose arguments must still be checked.
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
