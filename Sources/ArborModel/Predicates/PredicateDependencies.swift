/// The data that a predicate reads besides the evaluated record.
package struct PredicateDependencies: Sendable {
  /// The entities whose records or members are read, by index in the schema.
  package private(set) var entities: Set<Int> = []
  /// Whether objects are read whose entity is known only during evaluation.
  package private(set) var readsAnyEntity = false
  /// Whether binary values are read that may be stored outside the record.
  package private(set) var readsBlobs = false
  /// Whether lists or strings are computed, or regular expressions are matched, which can take a
  /// long time.
  package private(set) var needsLimits = false
  /// Whether the result depends on the time of the fetch.
  package private(set) var usesNow = false
  /// Whether evaluating an object twice can have different results, even at the same time.
  package private(set) var usesChance = false

  /// Whether only the evaluated record is read.
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
    case .closure(_, let step): entities.formUnion(step.entities)
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
