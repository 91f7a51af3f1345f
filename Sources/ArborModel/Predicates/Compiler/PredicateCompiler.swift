/// A compiler of bound predicates to closures over record bytes.
///
/// A comparison of a key path with a constant becomes a single closure over the field's bytes,
/// which creates neither a `PropertyValue` nor a `String`. Everything else uses
/// ``ComparisonSemantics``. Conjunctions and disjunctions are binary closures that evaluate the
/// cheaper operand first.
package enum PredicateCompiler {
  /// Compiles a conjunction.
  ///
  /// - Parameters:
  ///   - nodes: The members of the conjunction, all from one ``BoundPredicate``.
  ///   - arguments: The constants of their `.argument` expressions.
  ///   - concrete: The concrete entity of the evaluated records: the bound entity or a subentity.
  ///     Each has a layout of its own.
  ///   - environment: The store and the time of the fetch.
  /// - Throws: ``ArborError`` `invalidPredicate` if an argument is unsuitable for its comparison.
  package static func compile(
    _ nodes: [BoundNode], arguments: [PropertyValue], for concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> CompiledPredicate {
    for node in nodes { try ComparisonRules.check(node, arguments: arguments) }
    let compilation = PredicateCompilation(
      arguments: arguments, entity: concrete, environment: environment)
    let code = try compilation.compile(.and(nodes)).closure
    guard environment.chargesWork else { return code }
    let work = try compilation.compilingWork(BoundNode.and(nodes).staticWork)
    return { record, number, resolver in
      work.charge(to: resolver) && code(record, number, resolver)
    }
  }

  /// Returns a reader of an expression's value from records of one concrete entity.
  ///
  /// - Parameters:
  ///   - expression: An expression bound to the entity or to an ancestor.
  ///   - arguments: The constants of its `.argument` expressions.
  /// - Throws: ``ArborError`` `invalidPredicate` if an argument is unsuitable.
  package static func reader(
    for expression: BoundExpression, arguments: [PropertyValue], of concrete: EntitySchema,
    environment: PredicateEnvironment
  ) throws(ArborError) -> ValueReader {
    let compilation = PredicateCompilation(
      arguments: arguments, entity: concrete, environment: environment)
    let read = try compilation.reader(expression)
    guard environment.chargesWork else { return read }
    let node = BoundNode.comparison(
      BoundComparison(left: expression, comparison: .equal, right: .constant(.null)))
    let work = try compilation.compilingWork(node.staticWork)
    return { record, number, resolver in
      work.charge(to: resolver) ? read(record, number, resolver) : .null
    }
  }
}

/// The work of compiling, which is charged when the code is evaluated for the first time.
private final class CompilingWork {
  private var units: Int

  init(_ units: Int) { self.units = units }

  func charge(to resolver: (any RecordResolver)?) -> Bool {
    guard units > 0, let resolver else { return true }
    let due = units
    units = 0
    return resolver.charge(due)
  }
}

/// A closure with its relative cost: 1 for a number, more for a string or a relationship.
///
/// Closures are stored in structures. In a tuple or directly in an array, Swift would wrap each one
/// in thunks that pass all arguments through memory.
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

  /// The closure and its cost, also for a constant.
  var code: CompiledCode {
    switch self {
    case .constant: CompiledCode(cost: 0, closure: closure)
    case .code(let code): code
    }
  }

  /// Returns the node, which charges its cost and some more work whenever it is evaluated.
  func charging(_ work: Int) -> CompiledNode {
    guard case .code(let code) = self else { return self }
    let (units, closure) = (code.cost + work, code.closure)
    return .code(cost: code.cost) { record, number, resolver in
      resolver?.charge(units) ?? true && closure(record, number, resolver)
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

/// The state of compiling for the records of one concrete entity.
struct PredicateCompilation {
  let arguments: [PropertyValue]
  let entity: EntitySchema
  let environment: PredicateEnvironment
  /// The frames of all scopes, from the root to the current one.
  let frames: [EvaluationFrame]
  /// The storage of the slots for list elements.
  let slots: [ObjectIdentifier: ValueSlot]
  /// The remaining size for the constants of the whole predicate.
  let room: ConstantRoom
  /// Whether code is memoized by the object it depends on. `false` inside memoized code of the same
  /// scope.
  private(set) var remembers = true
}

extension PredicateCompilation {
  init(arguments: [PropertyValue], entity: EntitySchema, environment: PredicateEnvironment) {
    self.init(
      arguments: arguments, entity: entity, environment: environment,
      frames: [EvaluationFrame(family: [entity])], slots: [:],
      room: ConstantRoom(
        WorkAllowance.standardValueSize, work: environment.chargesWork ? Self.constantWork : .max))
  }

  /// The maximum work for the constants of a predicate that has a budget of work.
  private static var constantWork: Int { 100_000_000 }

  /// Returns the work of compiling.
  ///
  /// - Parameter staticWork: The work of compiling everything but the constants.
  /// - Throws: ``ArborError`` `limitExceeded` if the constants need too much work.
  fileprivate func compilingWork(_ staticWork: Int) throws(ArborError) -> CompilingWork {
    if room.isExhausted {
      throw ArborError(
        .limitExceeded,
        "The predicate's constant expressions need more work than the limit of "
          + "\(Self.constantWork) units. Simplify them, or pass their values as arguments.")
    }
    return CompilingWork(50 * staticWork + Self.constantWork - room.work)
  }

  var schema: ModelSchema { environment.schema }

  /// Returns the compilation for candidates of an inner scope.
  func within(_ frame: EvaluationFrame, _ entity: EntitySchema) -> PredicateCompilation {
    PredicateCompilation(
      arguments: arguments, entity: entity, environment: environment, frames: frames + [frame],
      slots: slots, room: room)
  }

  /// The compilation for code within memoized code.
  var forgetting: PredicateCompilation {
    var inner = self
    inner.remembers = false
    return inner
  }

  /// Returns the compilation with a slot's storage.
  func with(_ slot: BoundSlot, _ storage: ValueSlot) -> PredicateCompilation {
    var slots = slots
    slots[ObjectIdentifier(slot)] = storage
    return PredicateCompilation(
      arguments: arguments, entity: entity, environment: environment, frames: frames, slots: slots,
      room: room)
  }

  /// The frame from which inner scopes read the candidate.
  var frame: EvaluationFrame { frames[frames.count - 1] }

  /// Returns a chain of relationships from the candidate of a scope.
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
      let code = try remembering(remembers ? MemoRoot(node) : nil) { (plain) throws(ArborError) in
        try plain.compile(comparison)
      }
      return charging(code, node)
    case .quantified(let quantifier, let collection, let inner):
      let code = try remembering(remembers ? MemoRoot(node) : nil) { (plain) throws(ArborError) in
        try plain.compile(quantifier, collection, inner)
      }
      return charging(code, node)
    }
  }

  /// Returns code that charges the work of a node that doesn't depend on the lengths of its
  /// operands.
  private func charging(_ code: CompiledNode, _ node: BoundNode) -> CompiledNode {
    environment.chargesWork ? code.charging(node.staticWork) : code
  }

  private func join(_ nodes: [BoundNode], neutral: Bool) throws(ArborError) -> CompiledNode {
    var parts: [CompiledNode] = []
    for node in nodes { parts.append(try compile(node)) }
    return Self.join(parts, neutral: neutral)
  }

  /// Joins parts pairwise, cheapest first.
  ///
  /// - Parameter neutral: The constant that doesn't affect the result: `true` joins by AND, `false`
  ///   by OR. The opposite constant determines the result.
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

  /// Compiles a comparison to the most specialized code for its operands, such as a path and a
  /// constant in either order.
  private func compile(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode {
    let left = constant(comparison.left)
    let right = constant(comparison.right)
    if environment.chargesWork, !admits(comparison, left, right) { return .constant(false) }
    switch (comparison.left, left, comparison.right, right) {
    case (_, let left?, _, let right?):
      if comparison.comparison == .matches {
        // Matching can take long and is limited only during evaluation, so the pattern is only
        // checked here.
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

  /// Returns whether the constants of a comparison may be compared, or prepared for comparing them
  /// with other values.
  private func admits(
    _ comparison: BoundComparison, _ left: PropertyValue?, _ right: PropertyValue?
  ) -> Bool {
    guard let left, let right else {
      return room.admits(60 * ((left?.work ?? 0) + (right?.work ?? 0)))
    }
    let semantics = ComparisonSemantics(comparison.comparison, comparison.options)
    return room.admits(semantics.work(left, right))
  }

  private func checkExpression(
    _ pattern: PropertyValue, _ comparison: BoundComparison
  ) throws(ArborError) {
    guard case .string(let text) = pattern else { return }
    _ = try RegularExpressionMatcher(text, comparison.options, site: comparison.site)
  }

  /// Compiles a comparison of an expression with a constant, or returns `nil` if there is no
  /// special form for it.
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

  /// Compiles a comparison of a path that starts at a candidate of an enclosing scope.
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
