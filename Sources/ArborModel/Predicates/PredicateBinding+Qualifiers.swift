/// Binding of ANY, ALL and NONE.
extension PredicateBinding {
  mutating func bind(
    _ comparison: PredicateComparison, _ qualifier: ComparisonQualifier
  ) throws(ArborError) -> BoundNode {
    let quantifier: BoundQuantifier = qualifier == .all ? .all : .any
    let node: BoundNode
    switch comparison.left {
    case .path(let path): node = try quantify(path.parts[...], from: 0, comparison, quantifier)
    case .member(.variable(let name, let site), let path):
      if case .candidate(let scopeIndex) = names[name] {
        node = try quantify(path.parts[...], from: scopeIndex, comparison, quantifier)
      } else {
        let left = try bind(.member(.variable(name, site), path))
        node = try quantify(left, comparison, quantifier)
      }
    default: node = try quantify(try bind(comparison.left), comparison, quantifier)
    }
    return qualifier == .none ? .not(node) : node
  }

  /// Binds a comparison of the members that a path leads to, with one quantifier for each to-many
  /// relationship along it. A relationship that a collection operator applies to remains the
  /// operator's operand.
  private mutating func quantify(
    _ parts: Parts, from scopeIndex: Int, _ comparison: PredicateComparison,
    _ quantifier: BoundQuantifier, isMember: Bool = false
  ) throws(ArborError) -> BoundNode {
    try checkHops(parts.count, parts)
    let names = try names(of: parts)
    let start = try beginning(of: names, from: scopeIndex)
    guard case .toMany(let relationship) = start.end,
      try !isTakenByOperator(parts.dropFirst(start.count), relationship)
    else {
      var isJSON = false
      if case .leaf(.attribute(let attribute)) = start.end {
        isJSON = attribute.field.kind == .json
      }
      guard isMember || isJSON else { throw notMany(comparison, start, names) }
      let left = try traverse(parts, from: scopeIndex)
      // The elements of a list in JSON.
      if isJSON, left.kind == .any || !isMember {
        return try quantify(left, comparison, quantifier)
      }
      return .comparison(try bind(comparison, left: left))
    }
    let target = schema.entities[relationship.destination]
    let collection = BoundCollection(
      scope: scope(at: scopeIndex), hops: start.hops, relationship: relationship,
      owner: start.entity, target: target, site: names[names.startIndex + start.count - 1].site)
    let node = try within(target, at: collection.site) { (binding) throws(ArborError) in
      try binding.quantify(
        parts.dropFirst(start.count), from: binding.scopes.count - 1, comparison, quantifier,
        isMember: true)
    }
    return .quantified(quantifier, collection, node)
  }

  /// Returns whether a to-many relationship is the last one before a collection operator.
  private func isTakenByOperator(
    _ rest: Parts, _ relationship: RelationshipSchema
  ) throws(ArborError) -> Bool {
    let names = try names(of: rest)
    guard names.count < rest.count else { return false }
    guard
      let next = try? KeyPathBinder.beginning(
        of: names, from: schema.entities[relationship.destination], in: schema)
    else { return true }
    if case .toMany = next.end { return false }
    return true
  }

  private func notMany(
    _ comparison: PredicateComparison, _ start: KeyPathBinder.Beginning,
    _ names: ArraySlice<(name: String, site: PredicateSite)>
  ) -> ArborError {
    let qualifier = comparison.qualifier ?? .any
    let path = names.map(\.name).joined(separator: ".")
    return (names.first?.site ?? comparison.site).error(
      "\(qualifier.rawValue) applies to the members of a to-many relationship, but "
        + (path.isEmpty ? "SELF" : path) + " has a single value. Remove \(qualifier.rawValue)."
    ).with(entity: scopes[0].name, keyPath: path)
  }

  /// Binds a comparison of the elements of a list as a condition on the number of elements that
  /// satisfy it.
  private mutating func quantify(
    _ list: Bound, _ comparison: PredicateComparison, _ quantifier: BoundQuantifier
  ) throws(ArborError) -> BoundNode {
    guard list.kind.isList || list.kind == .any else {
      let qualifier = comparison.qualifier ?? .any
      throw comparison.site.error(
        "\(qualifier.rawValue) applies to the elements of a collection, but this is "
          + "\(list.kind.name). Remove \(qualifier.rawValue).")
    }
    let outer = names
    defer { names = outer }
    let slot = BoundSlot(kind: list.kind.element)
    let inner = BoundNode.comparison(try bind(comparison, left: Bound(.slot(slot), slot.kind)))
    let counted = quantifier == .any ? inner : .not(inner)
    return .comparison(
      BoundComparison(
        left: .call(.count, [.filter(list.expression, slot, counted)]),
        comparison: quantifier == .any ? .greater : .equal, right: .constant(.integer(0)),
        site: comparison.site))
  }
}
