/// Binding of paths: names and collection operators that follow a candidate or an expression.
extension PredicateBinding {
  typealias Parts = ArraySlice<KeyPathNode.Part>

  /// Follows a path from the candidate of the scope at an index in ``scopes``.
  mutating func traverse(_ parts: Parts, from scopeIndex: Int) throws(ArborError) -> Bound {
    try checkHops(parts.count, parts)
    let names = try names(of: parts)
    if names.isEmpty, case .collectionOperator(let name, let site)? = parts.first {
      throw site.error("\(name) must follow a to-many relationship. Put one before it.")
    }
    let start = try beginning(of: names, from: scopeIndex)
    let rest = parts.dropFirst(start.count)
    let site = start.count > 0 ? names[names.startIndex + start.count - 1].site : .none
    let scope = scope(at: scopeIndex)
    switch start.end {
    case .leaf(let leaf):
      let path = BoundExpression.path(BoundPath(scope: scope, hops: start.hops, leaf: leaf))
      var bound = Bound(
        path, ValueKind(leaf), start.target(in: schema), hops: start.hops.count, site: site)
      if case .attribute(let attribute) = leaf, case .composite(let type) = attribute.type {
        bound.composite = schema.model.composites.first { $0.name == type }
      }
      if let part = try decoded(path, names.dropFirst(start.count), start.hops.count) {
        return try behind(part, rest.dropFirst(names.count - start.count))
      }
      if case .attribute(let attribute) = leaf, !rest.isEmpty,
        ![.tagged, .json].contains(attribute.field.kind)
      {
        throw site.error(start.entity.whyPathsEnd(at: attribute.name)).with(
          entity: start.entity.name, keyPath: text(of: parts))
      }
      return try behind(bound, rest)
    case .toMany(let relationship):
      let target = schema.entities[relationship.destination]
      let collection = BoundCollection(
        scope: scope, hops: start.hops, relationship: relationship, owner: start.entity,
        target: target, site: site)
      let bound = Bound(
        .collection(collection), .many(.object), target, hops: start.hops.count + 1, site: site)
      return try behind(bound, rest)
    }
  }

  /// Returns a part of a JSON attribute, or `nil` for any other attribute or if no names follow it.
  @inline(never)
  private func decoded(
    _ base: BoundExpression, _ names: ArraySlice<(name: String, site: PredicateSite)>, _ hops: Int
  ) throws(ArborError) -> Bound? {
    guard let last = names.last, case .path(let path) = base,
      case .attribute(let attribute) = path.leaf, attribute.type == .json
    else { return nil }
    let part = try CodablePath(names, of: attribute.description)
    return Bound(.decoded(path, part), part.kind, hops: hops, site: last.site)
  }

  /// Follows a path after an expression.
  mutating func behind(_ base: Bound, _ parts: Parts) throws(ArborError) -> Bound {
    guard let first = parts.first else { return base }
    switch first {
    case .collectionOperator(let name, let site): return try apply(name, site, to: base, parts)
    case .name, .argument:
      let names = try names(of: parts)
      let rest = parts.dropFirst(names.count)
      guard let entity = base.entity else { return try behind(try part(base, names), rest) }
      let inner = try within(entity, at: base.site) { (binding) throws(ArborError) in
        try binding.traverse(parts.prefix(names.count), from: binding.scopes.count - 1)
      }
      var bound = inner
      bound.hops += base.hops
      try checkHops(bound.hops, parts)
      if base.kind.isList {
        bound.expression = .each(base.expression, of: entity, inner.expression)
        bound.kind = .many(inner.expression.isCollection ? inner.kind.element : inner.kind)
      } else {
        bound.expression = .follow(base.expression, of: entity, inner.expression)
      }
      return try behind(bound, rest)
    }
  }

  /// Returns a part of a composite, or a property of an object whose entity is known only during
  /// evaluation.
  private func part(
    _ base: Bound, _ names: ArraySlice<(name: String, site: PredicateSite)>
  ) throws(ArborError) -> Bound {
    var bound = base
    for (name, site) in names {
      switch bound.kind.element {
      case .any, .composite, .object: break
      default:
        throw site.error(
          "\"\(name)\" follows \(bound.kind.element.name), which has no properties. Only objects "
            + "and composites have properties.")
      }
      // The owner of the property is known only during evaluation, which is too late to check an
      // allow list.
      guard bound.composite != nil || site.text?.allowed == nil else {
        throw site.error(
          "\"\(name)\" follows an object whose entity is unknown, so the name cannot be checked "
            + "against the allowed properties. Remove the name.")
      }
      var kind = ValueKind.any
      if let composite = bound.composite {
        guard let part = composite.attributes.first(where: { $0.name == name }) else {
          throw site.error(
            "\(composite.name) has no part \"\(name)\"."
              + NearestName.hint(name, in: composite.attributes.map(\.name)))
        }
        kind = part.type.kind.valueKind
        bound.composite = nil
        if case .composite(let type) = part.type {
          bound.composite = schema.model.composites.first { $0.name == type }
        }
      }
      if bound.kind.isList { kind = .many(kind) }
      bound.expression = .part(bound.expression, name, kind)
      bound.kind = kind
      bound.site = site
    }
    return bound
  }

  /// Applies a collection operator to the preceding expression.
  private mutating func apply(
    _ name: String, _ site: PredicateSite, to base: Bound, _ parts: Parts
  ) throws(ArborError) -> Bound {
    guard base.kind.isList || base.kind == .any else {
      throw site.error(
        "\(name) follows \(base.kind.name). Put a to-many relationship or a list before it.")
    }
    let names = try names(of: parts.dropFirst())
    let operand = try behind(base, parts.dropFirst().prefix(names.count))
    let rest = parts.dropFirst(1 + names.count)
    let element = operand.kind.element
    var bound = operand
    bound.site = site
    bound.entity = nil
    if name == "@count" {
      guard names.isEmpty else {
        throw names[names.startIndex].site.error(
          "@count cannot be followed by a name. Put the path before @count.")
      }
      bound.expression = .call(.count, [operand.expression])
      bound.kind = .number
    } else if let function = Self.functions[name] {
      try FunctionRules.checkElements(of: operand, function, name, site)
      bound.expression = .call(function, [operand.expression])
      bound.kind = function == .min || function == .max ? element : .number
    } else if let union = BoundUnion(rawValue: name) {
      bound.expression = .union(union, operand.expression)
      bound.kind = .many(union.opensLists ? element.element : element)
      bound.entity = operand.entity
    } else {
      throw site.error(
        "\(name) is not a collection operator."
          + NearestName.hint(name, in: KeyPathNode.collectionOperators))
    }
    return try behind(bound, rest)
  }

  private static let functions: [String: PredicateFunction] = [
    "@sum": .sum, "@avg": .average, "@min": .min, "@max": .max,
  ]

  /// Rejects paths with more relationships than the stack of a small thread can handle.
  func checkHops(_ count: Int, _ parts: Parts) throws(ArborError) {
    let most = PredicateLimits.maximumPathLength
    guard count > most else { return }
    var site = PredicateSite.none
    if case .name(_, let first)? = parts.first { site = first }
    throw site.error(KeyPathNode.tooLong(count, most))
  }

  // MARK: Names

  /// Returns the names at the start of a path, up to its first operator.
  func names(
    of parts: Parts
  ) throws(ArborError) -> ArraySlice<(name: String, site: PredicateSite)> {
    var names: [(name: String, site: PredicateSite)] = []
    for part in parts {
      switch part {
      case .name(let name, let site): names.append((name, site))
      case .collectionOperator: return names[...]
      case .argument(_, let site):
        throw site.error("%K has no argument. Pass the key path as a string.")
      }
    }
    return names[...]
  }

  /// Returns the longest prefix of a path of names that leads to a single value.
  func beginning(
    of names: ArraySlice<(name: String, site: PredicateSite)>, from scopeIndex: Int
  ) throws(ArborError) -> KeyPathBinder.Beginning {
    do {
      return try KeyPathBinder.beginning(of: names, from: scopes[scopeIndex], in: schema)
    } catch {
      throw error.site.error(error.message)
        .with(entity: error.entity.name, keyPath: names.map(\.name).joined(separator: "."))
    }
  }

  private func text(of parts: Parts) -> String {
    KeyPathNode(Array(parts)).names.joined(separator: ".")
  }
}

extension AttributeSchema {
  fileprivate var type: AttributeType { description.type }
}
