/// Turns bound predicates into closures over record bytes.
///
/// A comparison of a key path with a constant becomes one closure over the path's bytes; no `Value`
/// and no `String` is made. Everything else goes through ``ComparisonSemantics``. Conjunctions and
/// disjunctions are binary closures, cheap sides first.
package enum PredicateCompiler {
  /// Compiles a conjunction.
  ///
  /// - Parameters:
  ///   - nodes: The predicates that must all hold, of one ``BoundPredicate``.
  ///   - arguments: The constants of their `.argument`s.
  ///   - concrete: The entity of the records that will be asked: the bound entity or one that
  ///     inherits from it. Each has a layout of its own.
  ///   - environment: Whose objects, and when.
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit its comparison.
  package static func compile(
    _ nodes: [BoundNode], arguments: [Value], for concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    for node in nodes { try ComparisonRules.check(node, arguments: arguments) }
    let compilation = PredicateCompilation(
      arguments: arguments, entity: concrete, environment: environment)
    return try compilation.compile(.and(nodes)).closure
  }
}

/// Code with what it costs beside other code: 1 for a number, more for texts and relationships.
///
/// Closures are kept in structures, not in tuples or bare in arrays: there Swift would wrap each in
/// thunks that pass every argument through memory.
struct CompiledCode {
  let cost: Int
  let closure: CompiledPredicate
}

/// A compiled part of a predicate.
enum CompiledNode {
  case constant(Bool)
  case code(CompiledCode)

  static func code(cost: Int, _ closure: @escaping CompiledPredicate) -> CompiledNode {
    .code(CompiledCode(cost: cost, closure: closure))
  }

  var closure: CompiledPredicate {
    switch self {
    case .constant(let flag): { _, _, _ in flag }
    case .code(let code): code.closure
    }
  }

  var negated: CompiledNode {
    switch self {
    case .constant(let flag): .constant(!flag)
    case .code(let code):
      .code(cost: code.cost) { [closure = code.closure] in !closure($0, $1, $2) }
    }
  }
}

/// The work of compiling for the records of one concrete entity.
struct PredicateCompilation {
  let arguments: [Value]
  let entity: EntitySchema
  let environment: PredicateEnvironment

  func compile(_ node: BoundNode) throws(ArborError) -> CompiledNode {
    switch node {
    case .constant(let flag): return .constant(flag)
    case .not(let node): return try compile(node).negated
    case .and(let nodes):
      return try join(nodes, neutral: true) { left, right in
        { left($0, $1, $2) && right($0, $1, $2) }
      }
    case .or(let nodes):
      return try join(nodes, neutral: false) { left, right in
        { left($0, $1, $2) || right($0, $1, $2) }
      }
    case .comparison(let comparison): return try compile(comparison)
    }
  }

  private func join(
    _ nodes: [BoundNode], neutral: Bool,
    _ pair: (@escaping CompiledPredicate, @escaping CompiledPredicate) -> CompiledPredicate
  ) throws(ArborError) -> CompiledNode {
    var parts: [CompiledNode] = []
    for node in nodes { parts.append(try compile(node)) }
    return Self.join(parts, neutral: neutral, pair)
  }

  /// Joins parts pairwise, the cheap ones first.
  ///
  /// - Parameter neutral: The constant that changes nothing; the other one decides alone.
  static func join(
    _ parts: [CompiledNode], neutral: Bool,
    _ pair: (@escaping CompiledPredicate, @escaping CompiledPredicate) -> CompiledPredicate
  ) -> CompiledNode {
    var codes: [CompiledCode] = []
    for part in parts {
      switch part {
      case .constant(neutral): continue
      case .constant: return .constant(!neutral)
      case .code(let code): codes.append(code)
      }
    }
    if codes.isEmpty { return .constant(neutral) }
    codes.sort { $0.cost < $1.cost }
    while codes.count > 1 {
      var paired: [CompiledCode] = []
      for index in stride(from: 0, to: codes.count - 1, by: 2) {
        let (left, right) = (codes[index], codes[index + 1])
        paired.append(
          CompiledCode(cost: left.cost + right.cost, closure: pair(left.closure, right.closure)))
      }
      if !codes.count.isMultiple(of: 2) { paired.append(codes[codes.count - 1]) }
      codes = paired
    }
    return .code(codes[0])
  }

  /// A path against a constant where the comparison is one, either way round; else values.
  private func compile(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode {
    let left = constant(comparison.left)
    let right = constant(comparison.right)
    switch (comparison.left, left, comparison.right, right) {
    case (_, let left?, _, let right?):
      let semantics = ComparisonSemantics(comparison.comparison, comparison.options)
      return .constant(try semantics.holds(left, right))
    case (.path(let path), _, _, let right?):
      return try PathComparison(
        comparison.comparison, comparison.options, right, site: comparison.site,
        environment: environment
      ).compile(path.hops[...], path.leaf, in: entity)
    case (_, let left?, .path(let path), _):
      guard let mirrored = comparison.comparison.mirrored else { break }
      return try PathComparison(
        mirrored, comparison.options, left, site: comparison.site, environment: environment
      ).compile(path.hops[...], path.leaf, in: entity)
    default: break
    }
    return try compileValues(comparison)
  }

  func constant(_ expression: BoundExpression) -> Value? {
    PredicateConstants(arguments: arguments).value(of: expression)
  }
}
