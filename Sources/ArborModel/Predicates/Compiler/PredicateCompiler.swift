/// Turns bound predicates into closures over record bytes.
///
/// A comparison of a key path with a constant becomes one closure over the path's bytes; no
/// `PropertyValue` and no `String` is made. Everything else goes through ``ComparisonSemantics``.
/// Conjunctions and disjunctions are binary closures, cheap sides first.
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
    _ nodes: [BoundNode], arguments: [PropertyValue], for concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    for node in nodes { try ComparisonRules.check(node, arguments: arguments) }
    let compilation = PredicateCompilation(
      arguments: arguments, entity: concrete, environment: environment)
    return try compilation.compile(.and(nodes)).closure
  }

  /// A reader of an expression's value from records of one concrete entity.
  ///
  /// - Parameters:
  ///   - expression: An expression bound to the entity or to one that it inherits from.
  ///   - arguments: The constants of its `.argument`s.
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit.
  package static func reader(
    for expression: BoundExpression, arguments: [PropertyValue], of concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> ValueReader {
    try PredicateCompilation(arguments: arguments, entity: concrete, environment: environment)
      .reader(expression)
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

  /// The code of what may be constant.
  var code: CompiledCode {
    switch self {
    case .constant: CompiledCode(cost: 0, closure: closure)
    case .code(let code): code
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
  let arguments: [PropertyValue]
  let entity: EntitySchema
  let environment: PredicateEnvironment
  /// The frames of all scopes, that of the root first, the own one last.
  let frames: [EvaluationFrame]
  /// Where the values of lists are put that are evaluated one by one.
  let slots: [ObjectIdentifier: ValueSlot]
  /// What the constants of the whole predicate may take.
  let room: ConstantRoom
  /// Whether code remembers what it depends on; not within code of the same scope that does.
  private(set) var remembers = true
}

extension PredicateCompilation {
  init(arguments: [PropertyValue], entity: EntitySchema, environment: PredicateEnvironment) {
    self.init(
      arguments: arguments, entity: entity, environment: environment,
      frames: [EvaluationFrame(family: [entity])], slots: [:],
      room: ConstantRoom(WorkAllowance.standardValueSize))
  }

  var schema: ModelSchema { environment.schema }

  /// Compiling for candidates of a further scope.
  func within(_ frame: EvaluationFrame, _ entity: EntitySchema) -> PredicateCompilation {
    PredicateCompilation(
      arguments: arguments, entity: entity, environment: environment, frames: frames + [frame],
      slots: slots, room: room)
  }

  /// Compiling within code that remembers what it depends on.
  var forgetting: PredicateCompilation {
    var inner = self
    inner.remembers = false
    return inner
  }

  /// Compiling where a slot holds values.
  func with(_ slot: BoundSlot, _ storage: ValueSlot) -> PredicateCompilation {
    var slots = slots
    slots[ObjectIdentifier(slot)] = storage
    return PredicateCompilation(
      arguments: arguments, entity: entity, environment: environment, frames: frames, slots: slots,
      room: room)
  }

  /// The frame in which inner scopes find the candidate.
  var frame: EvaluationFrame { frames[frames.count - 1] }

  /// A chain of relationships from the candidate of a scope.
  func chain(_ scope: Int, _ hops: [RelationshipSchema]) -> HopChain {
    if scope == 0 { return HopChain(hops, from: [entity], frame: nil, in: schema) }
    let frame = frames[frames.count - 1 - scope]
    return HopChain(hops, from: frame.family, frame: frame, in: schema)
  }

  func compile(_ node: BoundNode) throws(ArborError) -> CompiledNode {
    switch node {
    case .constant(let flag): return .constant(flag)
    case .not(let node): return try compile(node).negated
    case .and(let nodes): return try join(nodes, neutral: true)
    case .or(let nodes): return try join(nodes, neutral: false)
    case .comparison(let comparison):
      return try remembering(remembers ? MemoRoot(node) : nil) { (plain) throws(ArborError) in
        try plain.compile(comparison)
      }
    case .quantified(let quantifier, let collection, let inner):
      return try remembering(remembers ? MemoRoot(node) : nil) { (plain) throws(ArborError) in
        try plain.compile(quantifier, collection, inner)
      }
    }
  }

  private func join(_ nodes: [BoundNode], neutral: Bool) throws(ArborError) -> CompiledNode {
    var parts: [CompiledNode] = []
    for node in nodes { parts.append(try compile(node)) }
    return Self.join(parts, neutral: neutral)
  }

  /// Joins parts pairwise, the cheap ones first.
  ///
  /// - Parameter neutral: The constant that changes nothing: true joins by AND, false by OR. The
  ///   other one decides alone.
  static func join(_ parts: [CompiledNode], neutral: Bool) -> CompiledNode {
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
        let pair = neutral ? both(left.closure, right.closure) : any(left.closure, right.closure)
        paired.append(CompiledCode(cost: left.cost + right.cost, closure: pair))
      }
      if !codes.count.isMultiple(of: 2) { paired.append(codes[codes.count - 1]) }
      codes = paired
    }
    return .code(codes[0])
  }

  private static func both(
    _ left: @escaping CompiledPredicate, _ right: @escaping CompiledPredicate
  ) -> CompiledPredicate {
    { left($0, $1, $2) && right($0, $1, $2) }
  }

  private static func any(
    _ left: @escaping CompiledPredicate, _ right: @escaping CompiledPredicate
  ) -> CompiledPredicate {
    { left($0, $1, $2) || right($0, $1, $2) }
  }

  /// A path against a constant where the comparison is one, either way round; else what is known of
  /// the sides.
  private func compile(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode {
    let left = constant(comparison.left)
    let right = constant(comparison.right)
    switch (comparison.left, left, comparison.right, right) {
    case (_, let left?, _, let right?):
      if comparison.comparison == .matches {
        // May take long, which only the evaluation's limits end.
        try checkExpression(right, comparison)
        break
      }
      let semantics = ComparisonSemantics(
        comparison.comparison, comparison.options, locale: environment.locale)
      return .constant(try semantics.holds(left, right))
    case (_, _, _, let right?):
      if let node = try compile(
        comparison.left, comparison.comparison, comparison.options, right, comparison.site)
      {
        return node
      }
    case (_, let left?, _, _):
      if let mirrored = comparison.comparison.mirrored,
        let node = try compile(
          comparison.right, mirrored, comparison.options, left, comparison.site)
      {
        return node
      }
    default: break
    }
    if let node = try membership(comparison) { return node }
    if let node = fieldPair(comparison) { return node }
    if let node = try numbers(comparison) { return node }
    return try compileValues(comparison)
  }

  private func checkExpression(
    _ pattern: PropertyValue, _ comparison: BoundComparison
  ) throws(ArborError) {
    guard case .string(let text) = pattern else { return }
    _ = try RegularExpressionMatcher(text, comparison.options, site: comparison.site)
  }

  /// An expression against a constant; nil where that is nothing special.
  private func compile(
    _ expression: BoundExpression, _ comparison: ComparisonOperator,
    _ options: ComparisonOptions, _ constant: PropertyValue, _ site: PredicateSite
  ) throws(ArborError) -> CompiledNode? {
    switch expression {
    case .path(let path):
      let code = PathComparison(
        comparison: comparison, options: options, constant: constant, site: site,
        environment: environment)
      guard path.scope > 0 else { return try code.compile(path.hops[...], path.leaf, in: entity) }
      return try outer(path, code)
    case .call(.count, let operands) where operands.count == 1:
      return try count(operands[0], comparison, constant)
    default: return nil
    }
  }

  /// A comparison of a path from a candidate further out.
  private func outer(_ path: BoundPath, _ code: PathComparison) throws(ArborError) -> CompiledNode {
    let frame = frames[frames.count - 1 - path.scope]
    let codes = try EntityCodes(frame.family) { (entity) throws(ArborError) in
      try code.compile(path.hops[...], path.leaf, in: entity).code
    }
    return .code(cost: 10) { _, _, resolver in
      guard let record = frame.record, let code = codes[frame.number] else { return false }
      return code.closure(record, frame.number, resolver)
    }
  }

  func constant(_ expression: BoundExpression) -> PropertyValue? {
    PredicateConstants(arguments: arguments, now: environment.now, room: room)
      .value(of: expression)
  }
}
