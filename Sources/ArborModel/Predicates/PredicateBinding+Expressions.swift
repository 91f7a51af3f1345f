/// Binding of everything except paths.
extension PredicateBinding {
  /// Binds an expression. Each case is a single call, because this function recurses for every
  /// level of an expression, and an unoptimized stack frame reserves room for the local values of
  /// all cases.
  mutating func bind(_ expression: ExpressionNode) throws(ArborError) -> Bound {
    switch expression {
    case .constant(let value): return Bound(.constant(value), ValueKind(value))
    case .argument(let index): return Bound(.argument(index), .any)
    case .path(let path): return try bind(path)
    case .member(let base, let path): return try member(base, path)
    case .variable(let name, let site): return try variable(name, site)
    case .list(let elements): return try list(elements)
    case .call(let function, let operands, let site): return try call(function, operands, site)
    case .custom(let target, let name, let operands, let site):
      return try custom(name, [target] + operands, site)
    case .cast(let base, let type, let site): return try cast(base, type, site)
    case .ternary(let node, let first, let second): return try ternary(node, first, second)
    case .subquery(let base, let variable, let node, let site):
      return try subquery(base, variable, node, site)
    case .element(let base, let position, let site): return try element(base, position, site)
    case .assignment(let name, let value): return try assign(value, to: name)
    }
  }

  private mutating func bind(_ path: KeyPathNode) throws(ArborError) -> Bound {
    var bound = try traverse(path.parts[...], from: 0)
    bound.site = path.site
    return bound
  }

  private mutating func member(
    _ base: ExpressionNode, _ path: KeyPathNode
  ) throws(ArborError) -> Bound {
    guard case .variable(let name, let site) = base else {
      return try behind(try bind(base), path.parts[...])
    }
    if case .candidate(let entityIndex) = names[name] {
      return try traverse(path.parts[...], from: entityIndex)
    }
    return try behind(try variable(name, site), path.parts[...])
  }

  private mutating func list(_ elements: [ExpressionNode]) throws(ArborError) -> Bound {
    let bound = try bind(elements)
    return Bound(.list(bound.map(\.expression)), .list(bound.map(\.kind)))
  }

  private mutating func call(
    _ function: PredicateFunction, _ operands: [ExpressionNode], _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    if function == .closure, let operand = operands.first { return try closure(operand, site) }
    let sides = try bind(operands)
    var bound = try FunctionRules.bind(function, sides, site)
    bound.hops = sides.map(\.hops).max() ?? 0
    return bound
  }

  private mutating func custom(
    _ name: String, _ operands: [ExpressionNode], _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    guard PredicateFunctions.function(named: name) != nil else {
      throw site.error(PredicateFunctions.unknown(name))
    }
    return Bound(.custom(name, try bind(operands).map(\.expression), site), .any, site: site)
  }

  private mutating func ternary(
    _ node: PredicateNode, _ first: ExpressionNode, _ second: ExpressionNode
  ) throws(ArborError) -> Bound {
    let node = try bind(node)
    let (first, second) = (try bind(first), try bind(second))
    return Bound(
      .ternary(node, first.expression, second.expression), .common([first.kind, second.kind]),
      first.entity === second.entity ? first.entity : nil)
  }

  private mutating func assign(
    _ value: ExpressionNode, to name: String
  ) throws(ArborError) -> Bound {
    let bound = try bind(value)
    // Each use repeats the expression, so a chain of assignments could grow exponentially.
    guard bound.expression.size(upTo: Self.largestAssignment) < Self.largestAssignment else {
      throw bound.site.error(
        "The expression for $\(name) exceeds the limit of \(Self.largestAssignment - 1) terms. "
          + "Assign a simpler expression.")
    }
    names[name] = .assigned(bound, scopes: scopes.count)
    return bound
  }

  private static var largestAssignment: Int { 1000 }

  private mutating func bind(_ operands: [ExpressionNode]) throws(ArborError) -> [Bound] {
    var bound: [Bound] = []
    for operand in operands { bound.append(try bind(operand)) }
    return bound
  }

  private func variable(_ name: String, _ site: PredicateSite) throws(ArborError) -> Bound {
    switch names[name] {
    case .candidate(let entityIndex):
      return Bound(
        .path(BoundPath(scope: scope(at: entityIndex), leaf: .object)), .object,
        scopes[entityIndex], site: site)
    case .slot(let slot): return Bound(.slot(slot), slot.kind, site: site)
    case .assigned(var bound, let count):
      bound.expression = bound.expression.moved(by: scopes.count - count)
      return bound
    case nil:
      throw site.error(
        "The variable $\(name) has no value. Provide one with substituting([\"\(name)\": …]).")
    }
  }

  private mutating func cast(
    _ base: ExpressionNode, _ type: String, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    let base = try bind(base)
    if let owner = base.entity, !base.kind.isList,
      ValueCast(named: type) == nil || schema.entity(named: type) != nil
    {
      return try narrow(base, of: owner, to: type, site)
    }
    guard let cast = ValueCast(named: type) else {
      throw site.error(
        "\"\(type)\" is not a type that CAST supports. Use one of "
          + ValueCast.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    try FunctionRules.refuseMany([base], "CAST")
    if case .constant(let value) = base.expression, let text = cast.unreadable(value) {
      throw site.error(text)
    }
    return Bound(.cast(base.expression, cast), cast.kind, site: site)
  }

  /// Binds `CAST(SELF, "Photo")`: the object if it belongs to a subentity, otherwise nil.
  private func narrow(
    _ base: Bound, of owner: EntitySchema, to name: String, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    guard let entity = schema.entity(named: name), entity.isKind(of: owner) else {
      throw site.error(
        "\"\(name)\" is not an entity that inherits from \(owner.name). CAST of an object takes "
          + "the name of a subentity.")
    }
    let names = schema.entities.filter { $0.isKind(of: entity) }
      .map { PropertyValue.string($0.name) }
    let isNarrow = BoundNode.comparison(
      BoundComparison(
        left: .follow(base.expression, of: owner, .path(BoundPath(hops: [], leaf: .entityName))),
        comparison: .in, options: [], right: .constant(.list(names)), site: site))
    return Bound(
      .ternary(isNarrow, base.expression, .constant(.null)), .object, entity, hops: base.hops,
      site: site)
  }

  private mutating func subquery(
    _ base: ExpressionNode, _ variable: String, _ node: PredicateNode, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    let base = try bind(base)
    guard base.kind.isList || base.kind == .any else {
      throw site.error(
        "SUBQUERY filters a collection, but this is \(base.kind.name). Use a to-many relationship.")
    }
    guard let entity = base.entity else {
      let outer = names
      defer { names = outer }
      let slot = BoundSlot(kind: base.kind.element)
      names[variable] = .slot(slot)
      let node = try bind(node)
      return Bound(.filter(base.expression, slot, node), .many(base.kind.element), site: site)
    }
    let bound = try within(entity, at: site) { (binding) throws(ArborError) in
      binding.names[variable] = .candidate(binding.scopes.count - 1)
      return try binding.bind(node)
    }
    return Bound(
      .subquery(base.expression, of: entity, bound), .many(.object), entity, hops: base.hops,
      site: site)
  }

  private mutating func element(
    _ base: ExpressionNode, _ position: ElementPosition, _ site: PredicateSite
  ) throws(ArborError) -> Bound {
    let base = try bind(base)
    guard base.kind.isList || base.kind == .any || base.kind == .composite else {
      throw site.error(
        "Brackets select an element of a collection, but this is \(base.kind.name). Put a "
          + "collection before them.")
    }
    let bound: BoundPosition
    switch position {
    case .size: return Bound(.call(.count, [base.expression]), .number, site: site)
    case .first: bound = .first
    case .last: bound = .last
    case .at(let index): bound = .at(try bind(index).expression)
    }
    let kind = base.kind == .composite ? .any : base.kind.element
    return Bound(.element(base.expression, bound), kind, base.entity, hops: base.hops, site: site)
  }
}

extension BoundExpression {
  /// Returns the expression as it is read from a scope that is `scopes` levels inside its own.
  fileprivate func moved(by scopes: Int) -> BoundExpression {
    if scopes == 0 { return self }
    return mapped { expression, depth in
      switch expression {
      case .path(let path): .path(path.moved(by: scopes, depth: depth))
      case .decoded(let path, let part): .decoded(path.moved(by: scopes, depth: depth), part)
      case .collection(let collection):
        .collection(collection.moved(by: scopes, depth: depth))
      default: nil
      }
    }
  }
}

extension BoundPath {
  fileprivate func moved(by scopes: Int, depth: Int) -> BoundPath {
    scope < depth ? self : BoundPath(scope: scope + scopes, hops: hops, leaf: leaf)
  }
}

extension BoundCollection {
  fileprivate func moved(by scopes: Int, depth: Int) -> BoundCollection {
    var collection = self
    if scope >= depth { collection.scope += scopes }
    return collection
  }
}
