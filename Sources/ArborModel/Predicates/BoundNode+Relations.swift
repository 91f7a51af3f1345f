/// Predicates about the objects that relationships lead to.
extension BoundNode {
  /// The to-one relationship that all key paths of the predicate begin with; nil where there is
  /// none, or no path.
  var commonHop: RelationshipSchema? {
    var hop: RelationshipSchema?
    return visitPaths { path in
      guard let first = path.hops.first, hop == nil || hop?.slot == first.slot else { return false }
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
    case .quantified(_, let collection, let node):
      collection.scope == 0 && !node.readsOuterScopes
        && body(BoundPath(hops: collection.hops, leaf: .object))
    }
  }

  /// The predicate as one of the object behind the first relationship of its paths.
  var droppingFirstHop: BoundNode {
    switch self {
    case .constant: return self
    case .quantified(let quantifier, let collection, let node):
      return .quantified(quantifier, collection.droppingFirstHop, node)
    case .not(let node): return .not(node.droppingFirstHop)
    case .and(let nodes): return .and(nodes.map(\.droppingFirstHop))
    case .or(let nodes): return .or(nodes.map(\.droppingFirstHop))
    case .comparison(var comparison):
      comparison.left = comparison.left.droppingFirstHop
      comparison.right = comparison.right.droppingFirstHop
      return .comparison(comparison)
    }
  }

  /// What the predicate says where all its paths give nil; nil where that is not known.
  func holdsOfNil(_ constants: PredicateConstants) -> Bool? {
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
      // Neither the locale nor what limits a regular expression is known here.
      guard !comparison.options.contains(.localized), comparison.comparison != .matches,
        let left = comparison.left.valueOfNil(constants),
        let right = comparison.right.valueOfNil(constants)
      else { return nil }
      return try? ComparisonSemantics(comparison.comparison, comparison.options)
        .holds(left, right)
    // There are no members behind nil.
    case .quantified(.any, _, _): return false
    case .quantified(.all, _, _): return true
    }
  }

  /// The to-many relationship of the candidate of which any member has to fulfil a predicate, and
  /// the predicate; nil for what says something else.
  var anyMember: (relationship: RelationshipSchema, node: BoundNode)? {
    let collection: BoundCollection
    let node: BoundNode
    switch self {
    case .quantified(.any, let members, let inner): (collection, node) = (members, inner)
    case .comparison(let comparison):
      guard case .call(.count, let operands) = comparison.left, operands.count == 1,
        case .subquery(.collection(let members), _, let inner) = operands[0],
        case .constant(.integer(let count)) = comparison.right
      else { return nil }
      switch (comparison.comparison, count) {
      case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): break
      default: return nil
      }
      (collection, node) = (members, inner)
    default: return nil
    }
    guard collection.scope == 0, collection.hops.isEmpty, !node.readsOuterScopes else { return nil }
    return (collection.relationship, node)
  }
}

extension BoundCollection {
  fileprivate var droppingFirstHop: BoundCollection {
    var collection = self
    collection.scope = 0
    collection.hops = Array(hops.dropFirst())
    return collection
  }
}

extension BoundExpression {
  fileprivate func visitPaths(_ body: (BoundPath) -> Bool) -> Bool {
    switch self {
    case .path(let path): path.scope == 0 && body(path)
    case .list(let elements): elements.allSatisfy { $0.visitPaths(body) }
    // What reads more than paths stays with the row.
    default: isConstant
    }
  }

  fileprivate var droppingFirstHop: BoundExpression {
    switch self {
    case .path(let path): .path(BoundPath(hops: Array(path.hops.dropFirst()), leaf: path.leaf))
    case .list(let elements): .list(elements.map(\.droppingFirstHop))
    default: self
    }
  }

  fileprivate func valueOfNil(_ constants: PredicateConstants) -> PropertyValue? {
    if case .path = self { return .some(.null) }
    return constants.value(of: self)
  }
}
