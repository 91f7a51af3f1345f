/// What a predicate reads beside the record that it is evaluated for.
package struct PredicateDependencies: Sendable {
  /// The entities, by their indices in the schema, of whose objects records or members are read.
  package private(set) var entities: Set<Int> = []
  /// Whether objects are read whose entity shows only when they are there.
  package private(set) var readsAnyEntity = false
  /// Whether binaries are read that may lie outside of the record.
  package private(set) var readsBlobs = false
  /// Whether lists or texts are computed, or regular expressions matched, which can take long.
  package private(set) var needsLimits = false
  /// Whether the answer depends on when the fetch runs.
  package private(set) var usesNow = false
  /// Whether two questions about one object may have two answers.
  package private(set) var usesChance = false

  /// Whether nothing but the evaluated record is read.
  package var isEmpty: Bool { entities.isEmpty && !readsAnyEntity && !readsBlobs }

  package init(of node: BoundNode) {
    _ = node.contains { expression, _ in
      add(expression)
      return false
    }
    if node.matchesExpressions { needsLimits = true }
  }

  private mutating func add(_ expression: BoundExpression) {
    switch expression {
    case .path(let path):
      add(path.hops)
      if path.leaf.isExternal { readsBlobs = true }
    case .collection(let collection):
      add(collection.hops)
      entities.insert(collection.owner.index)
      entities.insert(collection.relationship.declaringEntity)
      entities.insert(collection.target.index)
    case .each(_, let entity, _), .follow(_, let entity, _), .subquery(_, let entity, _):
      entities.insert(entity.index)
    case .part(let base, _, _): if !base.isOfComposite { readsAnyEntity = true }
    case .list(let elements): if !elements.allSatisfy(\.isConstant) { needsLimits = true }
    case .filter, .call(.concat, _), .call(.join, _), .call(.add, _): needsLimits = true
    case .custom: usesChance = true
    case .call(.now, _): usesNow = true
    case .call(.random, _), .call(.randomn, _): usesChance = true
    default: break
    }
  }

  private mutating func add(_ hops: [RelationshipSchema]) {
    for hop in hops { entities.insert(hop.destination) }
  }
}
