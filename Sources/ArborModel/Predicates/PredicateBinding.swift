/// The state of binding one predicate.
struct PredicateBinding {
  let schema: ModelSchema
  /// The entities of the candidates of all open scopes, starting with the root's.
  var scopes: [EntitySchema]
  var names: [String: Meaning] = [:]

  enum Meaning {
    /// The candidate of the scope at an index in ``scopes``.
    case candidate(Int)
    case slot(BoundSlot)
    /// The assigned expression, and the number of scopes at the assignment.
    case assigned(Bound, scopes: Int)
  }

  /// A bound expression with the known properties of its value.
  struct Bound {
    var expression: BoundExpression
    var kind: ValueKind
    /// The entity of the resulting objects, or `nil` if the result contains no objects or their
    /// entity is unknown.
    var entity: EntitySchema?
    /// The composite type of the value, or `nil` if it isn't a composite.
    var composite: CompositeDescription?
    /// The number of nested relationships that the expression follows.
    var hops: Int
    var site: PredicateSite

    init(
      _ expression: BoundExpression, _ kind: ValueKind, _ entity: EntitySchema? = nil,
      hops: Int = 0, site: PredicateSite = .none
    ) {
      self.expression = expression
      self.kind = kind
      self.entity = entity
      self.hops = hops
      self.site = site
    }
  }

  init(entity: EntitySchema, schema: ModelSchema) {
    self.schema = schema
    scopes = [entity]
  }

  mutating func bind(_ node: PredicateNode) throws(ArborError) -> BoundNode {
    switch node {
    case .constant(let flag): return .constant(flag)
    case .and(let nodes): return .and(try bind(nodes))
    case .or(let nodes): return .or(try bind(nodes))
    case .not(let node): return .not(try bind(node))
    case .comparison(let comparison):
      if let qualifier = comparison.qualifier { return try bind(comparison, qualifier) }
      let left = try bind(comparison.left)
      return .comparison(try bind(comparison, left: left))
    }
  }

  private mutating func bind(_ nodes: [PredicateNode]) throws(ArborError) -> [BoundNode] {
    var bound: [BoundNode] = []
    for node in nodes { bound.append(try bind(node)) }
    return bound
  }

  /// Binds the right side of a comparison whose left side is already bound.
  mutating func bind(
    _ comparison: PredicateComparison, left: Bound
  ) throws(ArborError) -> BoundComparison {
    let bound = BoundComparison(
      left: left.expression, comparison: comparison.comparison, options: comparison.options,
      right: try bind(comparison.right).expression, site: comparison.site)
    try ComparisonRules.check(bound, arguments: nil)
    return bound
  }

  /// Binds within a new scope, and restores the variables afterwards.
  mutating func within<R>(
    _ entity: EntitySchema, at site: PredicateSite, _ body: (inout Self) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    guard scopes.count <= PredicateLimits.maximumCollectionDepth else {
      throw site.error(
        "The predicate's collections are nested \(scopes.count) levels deep, which exceeds the "
          + "limit of \(PredicateLimits.maximumCollectionDepth). Follow fewer to-many "
          + "relationships.")
    }
    let outer = names
    scopes.append(entity)
    defer {
      scopes.removeLast()
      names = outer
    }
    return try body(&self)
  }

  /// Returns the number of scopes between the innermost one and the scope at an index in
  /// ``scopes``.
  func scope(at index: Int) -> Int { scopes.count - 1 - index }
}
