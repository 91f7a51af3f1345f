internal import ArborLocks

extension ParsedPredicate {
  /// Combines shapes with AND or OR, concatenating their arguments, or negates a single shape.
  static func compose(_ composition: Composition, _ shapes: [ParsedPredicate]) -> ParsedPredicate {
    let outcome = nodes(of: shapes).flatMap { nodes -> Result<PredicateNode, ArborError> in
      let node: PredicateNode =
        switch composition {
        case .and: .all(nodes)
        case .or: .any(nodes)
        case .not: if case .not(let inner) = nodes[0] { inner } else { .not(nodes[0]) }
        }
      let isTooDeep = node.depth > PredicateLimits.standard.maximumDepth
      return isTooDeep ? .failure(tooDeep) : .success(node)
    }
    return ParsedPredicate(
      source: nil, outcome: outcome, argumentCount: shapes.reduce(0) { $0 + $1.argumentCount },
      allowance: shapes.reduce(WorkAllowance()) { $0.narrowed(by: $1.allowance) },
      constants: shapes.flatMap(\.constants))
  }

  /// Returns the trees of shapes to combine.
  private static func nodes(of shapes: [ParsedPredicate]) -> Result<[PredicateNode], ArborError> {
    var nodes: [PredicateNode] = []
    nodes.reserveCapacity(shapes.count)
    var offset = 0
    var assigned: Set<String> = []
    for shape in shapes {
      let node: PredicateNode
      switch shape.outcome {
      case .failure(let error): return .failure(error)
      case .success(let found): node = found
      }
      // After an assignment, the variable would have another meaning.
      if let name = shape.variables.first(where: assigned.contains) {
        return .failure(
          ArborError(
            .invalidPredicate,
            "One predicate assigns $\(name), and the predicate joined to it needs a value for "
              + "$\(name). Rename one of the variables, or substitute the value before you join "
              + "the predicates."))
      }
      assigned.formUnion(shape.assigned)
      nodes.append(offset == 0 ? node : node.movingArguments(by: offset))
      offset += shape.argumentCount
    }
    return .success(nodes)
  }

  static var tooDeep: ArborError {
    ArborError(
      .invalidPredicate,
      "The predicate is nested more than \(PredicateLimits.standard.maximumDepth) levels deep. "
        + "Combine fewer conditions with AND, OR and NOT.")
  }

  /// Returns the shape with some variables replaced by arguments, which follow the existing ones in
  /// the order of the names.
  func binding(_ names: [String]) -> ParsedPredicate {
    derived(names) { node in
      node.mapLeaves { leaf in
        guard case .variable(let name, _) = leaf, let index = names.firstIndex(of: name) else {
          return leaf
        }
        return .argument(argumentCount + index)
      }
    } argumentCount: {
      argumentCount + names.count
    }
  }

  /// Returns the shape with key paths in place of the arguments in ``pathArguments``. The remaining
  /// arguments are renumbered.
  func resolvingPaths(_ keyPaths: [String]) -> ParsedPredicate {
    let remaining = (0..<argumentCount).filter { !pathArguments.contains($0) }
    return derived(["%K"] + keyPaths) { node in
      func resolve(_ path: KeyPathNode) -> KeyPathNode {
        let parts = path.parts.flatMap { part -> [KeyPathNode.Part] in
          guard case .argument(let index, let site) = part,
            let argumentIndex = pathArguments.firstIndex(of: index)
          else { return [part] }
          return Self.parts(of: keyPaths[argumentIndex], site)
        }
        return KeyPathNode(parts, site: path.site)
      }
      return node.mapLeaves(path: resolve) { leaf in
        switch leaf {
        case .argument(let index): .argument(remaining.firstIndex(of: index) ?? index)
        case .path(let path): .path(resolve(path))
        default: leaf
        }
      }
    } argumentCount: {
      remaining.count
    }
  }

  /// Returns the names in a path; a leading `SELF` is ignored.
  static func parts(of keyPath: String, _ site: PredicateSite) -> [KeyPathNode.Part] {
    var names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
    if names.first?.uppercased() == "SELF" { names.removeFirst() }
    return names.map { KeyPathNode.Part(String($0), site) }
  }

  private func derived(
    _ key: [String], _ rewrite: (PredicateNode) -> PredicateNode, argumentCount: () -> Int
  ) -> ParsedPredicate {
    if let known = derivations.withLock({ $0[key] }) { return known }
    let shape = ParsedPredicate(
      source: nil, outcome: outcome.map(rewrite), argumentCount: argumentCount(),
      allowance: allowance, constants: constants)
    derivations.withLock { derivations in
      // Callers that generate names dynamically must not make a shape grow without bound.
      if derivations.count >= 64 { derivations.removeAll() }
      derivations[key] = shape
    }
    return shape
  }
}

extension PredicateNode {
  /// Returns the tree with its arguments renumbered to follow those of another.
  fileprivate func movingArguments(by offset: Int) -> PredicateNode {
    mapLeaves { leaf in
      if case .argument(let index) = leaf { .argument(index + offset) } else { leaf }
    }
  }
}
