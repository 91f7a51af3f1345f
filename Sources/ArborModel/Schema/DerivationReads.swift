/// The properties that an expression reads, and whose changes therefore invalidate its value.
struct DerivationReads {
  private typealias Chain = [RelationshipSchema]

  let schema: ModelSchema
  private(set) var reads: [DerivationRead] = []
  /// The reason changes of the value cannot be detected, or `nil` if they can.
  private(set) var flaw: String?

  /// Records the properties that an expression reads.
  ///
  /// - Parameter scopes: The relationships that lead to the candidate of each scope, outermost
  ///   first.
  mutating func visit(_ expression: BoundExpression, _ scopes: [[RelationshipSchema]]) {
    switch expression {
    case .constant, .argument, .slot: break
    case .path(let path): visit(path, scopes)
    case .collection(let collection): visit(collection, scopes)
    case .call(.now, _):
      flaw =
        "the expression uses now() in a larger expression. Derive an attribute from now() alone, "
        + "and compute the rest in requests."
    case .call(.random, _), .call(.randomn, _):
      flaw = "the expression uses a random number. Remove the random number."
    case .custom:
      flaw =
        "the expression calls a registered function, which other programs that use this model may "
        + "lack. Use built-in functions."
    case .list(let elements), .call(_, let elements):
      for element in elements { visit(element, scopes) }
    case .each(let base, _, let inner), .follow(let base, _, let inner):
      visit(base, scopes)
      if let chain = demandChain(base, scopes) { visit(inner, scopes + [chain]) }
    case .subquery(let base, _, let node):
      visit(base, scopes)
      if let chain = demandChain(base, scopes) { visit(node, scopes + [chain]) }
    case .union(_, let base), .cast(let base, _): visit(base, scopes)
    case .closure(let base, _):
      visit(base, scopes)
      flaw =
        "the expression repeats a relationship, so a change can concern any number of objects. Use "
        + "CLOSURE in requests."
    case .filter(let base, _, let node):
      visit(base, scopes)
      visit(node, scopes)
    case .ternary(let node, let first, let second):
      visit(node, scopes)
      visit(first, scopes)
      visit(second, scopes)
    case .element(let base, let position):
      visit(base, scopes)
      if case .at(let index) = position { visit(index, scopes) }
    case .decoded(let path, _):
      visit(path, scopes)
      flaw =
        "the expression reads a part of a JSON attribute, whose type programs without the class don't "
        + "know. Keep that part in a separate attribute."
    case .part(let base, _, _):
      visit(base, scopes)
      demandAttribute(base)
    }
  }

  private mutating func visit(_ node: BoundNode, _ scopes: [Chain]) {
    switch node {
    case .constant: break
    case .not(let node): visit(node, scopes)
    case .and(let nodes), .or(let nodes): for node in nodes { visit(node, scopes) }
    case .comparison(let comparison):
      if comparison.options.contains(.localized) {
        flaw =
          "the expression compares texts by the rules of a locale, which differ between machines. "
          + "Remove the option l."
      } else if comparison.comparison == .matches {
        flaw =
          "the expression matches a regular expression, whose rules differ between versions of "
          + "the system. Use LIKE, CONTAINS, BEGINSWITH or ENDSWITH."
      }
      visit(comparison.left, scopes)
      visit(comparison.right, scopes)
    case .quantified(_, let collection, let node):
      visit(collection, scopes)
      let chain = scopes[scopes.count - 1 - collection.scope] + collection.hops
      visit(node, scopes + [chain + [collection.relationship]])
    }
  }

  private mutating func visit(_ path: BoundPath, _ scopes: [Chain]) {
    let chain = follow(path.hops, from: scopes[scopes.count - 1 - path.scope])
    switch path.leaf {
    case .attribute(let attribute):
      if attribute.description.derivation != nil {
        flaw =
          "the expression reads \(attribute.name), which is itself derived. Use the expression "
          + "that \(attribute.name) is derived from."
      } else if attribute.description.isTransient {
        flaw =
          "the expression reads \(attribute.name), which is transient and not visible to other "
          + "processes."
      }
      reads.append(DerivationRead(hops: chain, property: .attribute(attribute.slot)))
    case .toOne(let relationship):
      reads.append(DerivationRead(hops: chain, property: .toOne(relationship)))
    case .object, .entityName: break
    }
  }

  private mutating func visit(_ collection: BoundCollection, _ scopes: [Chain]) {
    let chain = follow(collection.hops, from: scopes[scopes.count - 1 - collection.scope])
    reads.append(DerivationRead(hops: chain, property: .members(collection.relationship)))
  }

  /// Records reads of successive to-one relationships, and returns the chain that leads to their
  /// end.
  private mutating func follow(_ hops: Chain, from start: Chain) -> Chain {
    var chain = start
    for hop in hops {
      reads.append(DerivationRead(hops: chain, property: .toOne(hop)))
      chain.append(hop)
    }
    return chain
  }

  private mutating func demandChain(_ expression: BoundExpression, _ scopes: [Chain]) -> Chain? {
    if let chain = Self.chain(to: expression, scopes) { return chain }
    flaw =
      "the objects that the expression reads cannot be determined. Use a path of relationships "
      + "with @count, @sum, @avg, @min or @max."
    return nil
  }

  /// Reports a flaw if the parts of a value are read and the expression is not an attribute.
  private mutating func demandAttribute(_ expression: BoundExpression) {
    if case .path(let path) = expression, case .attribute = path.leaf { return }
    flaw =
      "the properties that the expression reads cannot be determined. Use a path of relationships."
  }

  /// Returns the relationships that lead to the objects that an expression evaluates to, or `nil`
  /// for any other expression.
  private static func chain(to expression: BoundExpression, _ scopes: [Chain]) -> Chain? {
    switch expression {
    case .path(let path):
      let start = scopes[scopes.count - 1 - path.scope] + path.hops
      switch path.leaf {
      case .toOne(let relationship): return start + [relationship]
      case .object: return start
      case .attribute, .entityName: return nil
      }
    case .collection(let collection):
      return scopes[scopes.count - 1 - collection.scope] + collection.hops
        + [collection.relationship]
    case .each(let base, _, let inner), .follow(let base, _, let inner):
      return chain(to: base, scopes).flatMap { chain(to: inner, scopes + [$0]) }
    case .subquery(let base, _, _), .union(_, let base), .element(let base, _):
      return chain(to: base, scopes)
    case .call(.distinct, let bases) where bases.count == 1: return chain(to: bases[0], scopes)
    default: return nil
    }
  }
}
