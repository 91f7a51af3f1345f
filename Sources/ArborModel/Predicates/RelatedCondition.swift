internal import Synchronization

/// What some members of a conjunction say about the object that a to-one relationship leads to.
///
/// `company.name == "X" AND company.city != "Y"` is, of the company, `name == "X" AND city != "Y"`:
/// the companies that fulfil it are found first, then the objects that lead to them. It is the same
/// only where the condition is false of nil, since a path through nil gives nil.
package final class RelatedCondition: Sendable {
  package let relationship: RelationshipSchema
  /// The members of the conjunction that the condition stands for.
  package let places: [Int]
  private let nodes: [BoundNode]
  private let bound = Mutex<BoundPredicate?>(nil)

  private init(_ relationship: RelationshipSchema, places: [Int], nodes: [BoundNode]) {
    self.relationship = relationship
    self.places = places
    self.nodes = nodes
  }

  /// The conditions of a conjunction, one for each relationship that any of its members follows.
  static func gather(_ nodes: [BoundNode]) -> [RelatedCondition] {
    var groups: [(relationship: RelationshipSchema, places: [Int])] = []
    for (place, node) in nodes.enumerated() {
      guard let hop = node.commonHop else { continue }
      if let known = groups.firstIndex(where: { $0.relationship.slot == hop.slot }) {
        groups[known].places.append(place)
      } else {
        groups.append((hop, [place]))
      }
    }
    return groups.map { relationship, places in
      RelatedCondition(relationship, places: places, nodes: places.map { nodes[$0] })
    }
  }

  /// The condition as a predicate of the relationship's destination.
  package func predicate(in schema: ModelSchema) -> BoundPredicate {
    bound.withLock { bound in
      if let bound { return bound }
      let made = BoundPredicate(
        entity: schema.entities[relationship.destination],
        root: .and(nodes.map(\.droppingFirstHop)), schema: schema)
      bound = made
      return made
    }
  }

  /// Whether no object without a related one fulfils the condition.
  func isFalseOfNil(_ arguments: [Value]) -> Bool {
    let constants = PredicateConstants(arguments: arguments)
    return nodes.contains { $0.holdsOfNil(constants) == false }
  }
}

extension BoundNode {
  /// The to-one relationship that all key paths of the predicate begin with; nil where there is
  /// none, or no path.
  fileprivate var commonHop: RelationshipSchema? {
    var hop: RelationshipSchema?
    return visitPaths { path in
      guard let first = path.hops.first, hop == nil || hop?.slot == first.slot else {
        return false
      }
      hop = first
      return true
    } ? hop : nil
  }

  /// Visits all key paths until `body` says false; returns whether it never did.
  private func visitPaths(_ body: (BoundPath) -> Bool) -> Bool {
    switch self {
    case .constant: true
    case .not(let node): node.visitPaths(body)
    case .and(let nodes), .or(let nodes): nodes.allSatisfy { $0.visitPaths(body) }
    case .comparison(let comparison):
      comparison.left.visitPaths(body) && comparison.right.visitPaths(body)
    case .quantified: false
    }
  }

  /// The predicate as one of the object behind the first relationship of its paths.
  fileprivate var droppingFirstHop: BoundNode {
    switch self {
    case .constant, .quantified: return self
    case .not(let node): return .not(node.droppingFirstHop)
    case .and(let nodes): return .and(nodes.map(\.droppingFirstHop))
    case .or(let nodes): return .or(nodes.map(\.droppingFirstHop))
    case .comparison(let comparison):
      return .comparison(
        BoundComparison(
          left: comparison.left.droppingFirstHop, comparison: comparison.comparison,
          options: comparison.options, right: comparison.right.droppingFirstHop,
          site: comparison.site))
    }
  }

  /// What the predicate says where all its paths give nil; nil where that is not known.
  fileprivate func holdsOfNil(_ constants: PredicateConstants) -> Bool? {
    switch self {
    case .constant(let flag): return flag
    case .not(let node): return node.holdsOfNil(constants).map { !$0 }
    case .and(let nodes):
      let outcomes = nodes.map { $0.holdsOfNil(constants) }
      if outcomes.contains(false) { return false }
      return outcomes.contains(nil) ? nil : true
    case .or(let nodes):
      let outcomes = nodes.map { $0.holdsOfNil(constants) }
      if outcomes.contains(true) { return true }
      return outcomes.contains(nil) ? nil : false
    case .comparison(let comparison):
      guard let left = comparison.left.valueOfNil(constants),
        let right = comparison.right.valueOfNil(constants)
      else { return nil }
      return try? ComparisonSemantics(comparison.comparison, comparison.options)
        .holds(left, right)
    case .quantified: return nil
    }
  }
}

extension BoundExpression {
  fileprivate func visitPaths(_ body: (BoundPath) -> Bool) -> Bool {
    switch self {
    case .path(let path): path.scope == 0 && body(path)
    case .constant, .argument: true
    case .list(let elements): elements.allSatisfy { $0.visitPaths(body) }
    // What reads more than paths stays with the row.
    default: false
    }
  }

  fileprivate var droppingFirstHop: BoundExpression {
    switch self {
    case .path(let path): .path(BoundPath(hops: Array(path.hops.dropFirst()), leaf: path.leaf))
    case .list(let elements): .list(elements.map(\.droppingFirstHop))
    default: self
    }
  }

  fileprivate func valueOfNil(_ constants: PredicateConstants) -> Value? {
    if case .path = self { return .some(.null) }
    return constants.value(of: self)
  }
}
