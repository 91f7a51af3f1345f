/// Brings a bound predicate into the form that planning looks at: a conjunction of predicates that
/// are as small as may be.
///
/// Logic is two-valued, so `NOT` moves inwards over AND and OR, two `NOT`s are none, and `NOT x ==
/// v` is `x != v`. A negated order stays: where a side can be nil, `NOT x < v` is not `x >= v`.
enum PredicateNormalizer {
  /// The members of the conjunction that a node is; none for what is always true.
  static func members(of node: BoundNode) -> [BoundMember] {
    var nodes: [BoundNode] = []
    flatten(normalized(node), into: &nodes)
    return nodes.map(BoundMember.init)
  }

  private static func flatten(_ node: BoundNode, into members: inout [BoundNode]) {
    switch node {
    case .and(let nodes): for node in nodes { flatten(node, into: &members) }
    case .constant(true): break
    default: members.append(node)
    }
  }

  private static func normalized(_ node: BoundNode) -> BoundNode {
    switch node {
    case .constant, .comparison: node
    case .and(let nodes): .and(nodes.map(normalized))
    case .or(let nodes): .or(nodes.map(normalized))
    case .not(let node): negated(node)
    }
  }

  /// The normal form of the opposite.
  private static func negated(_ node: BoundNode) -> BoundNode {
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
}

/// One member of a predicate's conjunction, with what is known of it before its arguments are.
struct BoundMember: Sendable {
  let node: BoundNode
  /// The comparison of a property with a constant that the member is, if it is one.
  let pattern: IndexablePattern?
  /// Whether arguments decide if its operators fit their sides.
  let needsCheck: Bool

  init(_ node: BoundNode) {
    self.node = node
    needsCheck = ComparisonRules.dependsOnArguments(node)
    if case .comparison(let comparison) = node {
      pattern = IndexablePattern(comparison)
    } else {
      pattern = nil
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
    var conjuncts: [Conjunct] = []
    conjuncts.reserveCapacity(members.count)
    var isImpossible = false
    for member in members {
      if member.needsCheck { try ComparisonRules.check(member.node, arguments: arguments) }
      switch member.pattern?.outcome(arguments: arguments, environment: environment) {
      case .never: isImpossible = true
      case .term(let term): conjuncts.append(Conjunct(node: member.node, term: term))
      case nil:
        if case .constant(false) = member.node { isImpossible = true }
        conjuncts.append(Conjunct(node: member.node))
      }
    }
    return isImpossible ? [Conjunct(node: .constant(false))] : conjuncts
  }
}
