/// Predicates on related objects.
extension BoundNode {
  /// The to-one relationship that all key paths of the predicate start with, or `nil` if there
  /// isn't one or the predicate has no key paths.
  var commonHop: RelationshipSchema? {
    var hop: RelationshipSchema?
    return visitPaths { path in
      guard let first = path.hops.first, hop == nil || hop?.slot == first.slot else { return false }
      hop = first
      return true
    } ? hop : nil
  }

  /// Visits key paths until `body` returns `false`. Returns whether all of them were visited.
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

  /// The predicate, relative to the object that the first relationship of its paths leads to.
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

  /// Returns the predicate's result if all its paths are `nil`, or `nil` if that is unknown.
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
      // Neither the locale nor the limits of regular expressions are known here.
      guard !comparison.options.contains(.localized), comparison.comparison != .matches,
        let left = comparison.left.valueOfNil(constants),
        let right = comparison.right.valueOfNil(constants)
      else { return nil }
      return try? ComparisonSemantics(comparison.comparison, comparison.options)
        .holds(left, right)
    // A `nil` reference has no members.
    case .quantified(.any, _, _): return false
    case .quantified(.all, _, _): return true
    }
  }

  /// The to-many relationship of which at least one member must satisfy a predicate, and that
  /// predicate, or `nil` if this predicate has another form.
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
    // Expressions that read anything except paths must be evaluated on the row.
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
