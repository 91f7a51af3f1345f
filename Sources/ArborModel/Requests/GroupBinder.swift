/// A binder that rewrites expressions about the objects of a group as expressions about the group's
/// keys and aggregates.
struct GroupBinder {
  /// The grouping keys, as requested.
  let keys: [ExpressionNode]
  let columns: [RowColumn]
  let entity: EntitySchema
  let schema: ModelSchema
  private(set) var nodes: [Wanted] = []
  private(set) var aggregates: [RowPlan.GroupAggregate] = []

  /// An aggregate as requested. Equal ones are computed only once.
  struct Wanted: Equatable {
    let function: PredicateFunction
    let operand: ExpressionNode?
    let isDistinct: Bool
  }

  var boundKeys: [BoundExpression] {
    get throws(ArborError) {
      try keys.map { (key) throws(ArborError) in
        try PredicateBinder.bind(key, to: entity, in: schema).expression
      }
    }
  }

  /// Binds an expression about a group, whose leaves become arguments and constants.
  mutating func bind(_ node: ExpressionNode) throws(ArborError) -> BoundExpression {
    let rewritten = try rewrite(node, knowsColumns: false)
    return try PredicateBinder.bind(rewritten, to: entity, in: schema).expression
  }

  /// Binds a sort key: the name of a column, or an expression about a group.
  mutating func bind(sortKey text: String) throws(ArborError) -> BoundExpression {
    if let column = columns.first(where: { $0.name == text }) {
      return try bind(column.expression)
    }
    let node = try RowColumn(text, of: entity).expression
    let rewritten = try rewrite(node, knowsColumns: true)
    return try PredicateBinder.bind(rewritten, to: entity, in: schema).expression
  }

  mutating func bind(_ predicate: FetchPredicate) throws(ArborError) -> BoundPredicate {
    let node = try predicate.parsed.outcome.get()
    let arguments = predicate.arguments
    // The arguments of expressions about a group are the group's values.
    let closed = node.mapLeaves { (leaf: ExpressionNode) -> ExpressionNode in
      guard case .argument(let index) = leaf, index < arguments.count else { return leaf }
      return .constant(arguments[index])
    }
    let rewritten = FetchPredicate(node: try rewrite(closed))
    return try PredicateBinder.bind(rewritten, to: entity, in: schema)
  }

  // MARK: Rewriting

  private mutating func rewrite(_ node: PredicateNode) throws(ArborError) -> PredicateNode {
    switch node {
    case .constant: return node
    case .not(let inner): return .not(try rewrite(inner))
    case .and(let parts): return .and(try rewrite(parts))
    case .or(let parts): return .or(try rewrite(parts))
    case .comparison(var comparison):
      comparison.left = try rewrite(comparison.left, knowsColumns: true)
      comparison.right = try rewrite(comparison.right, knowsColumns: true)
      return .comparison(comparison)
    }
  }

  private mutating func rewrite(_ nodes: [PredicateNode]) throws(ArborError) -> [PredicateNode] {
    var rewritten: [PredicateNode] = []
    for node in nodes { rewritten.append(try rewrite(node)) }
    return rewritten
  }

  /// Rewrites an expression about a group.
  ///
  /// - Parameter knowsColumns: Whether names can refer to columns. `false` within columns, so that
  ///   a column cannot refer to itself.
  private mutating func rewrite(
    _ node: ExpressionNode, knowsColumns: Bool
  ) throws(ArborError) -> ExpressionNode {
    if let key = keys.firstIndex(of: node) { return .argument(key) }
    if let aggregate = node.aggregate(in: entity, schema) {
      return .argument(keys.count + (try index(of: aggregate)))
    }
    switch node {
    case .constant: return node
    case .path:
      let name = node.plainPath
      guard knowsColumns, let column = columns.first(where: { $0.name == name }) else {
        throw isNoProperty(node)
      }
      return try rewrite(column.expression, knowsColumns: false)
    case .list(let elements): return .list(try rewrite(elements, knowsColumns))
    case .call(let function, let operands, let site):
      return .call(function, try rewrite(operands, knowsColumns), site)
    case .custom(let target, let name, let operands, let site):
      return .custom(
        try rewrite(target, knowsColumns: knowsColumns), name: name,
        try rewrite(operands, knowsColumns), site)
    case .cast(let base, let type, let site):
      return .cast(try rewrite(base, knowsColumns: knowsColumns), to: type, site)
    case .ternary(let condition, let first, let second):
      return .ternary(
        try rewrite(condition), try rewrite(first, knowsColumns: knowsColumns),
        try rewrite(second, knowsColumns: knowsColumns))
    case .argument, .variable, .member, .subquery, .element, .assignment: throw isNoProperty(node)
    }
  }

  private mutating func rewrite(
    _ nodes: [ExpressionNode], _ knowsColumns: Bool
  ) throws(ArborError) -> [ExpressionNode] {
    var rewritten: [ExpressionNode] = []
    for node in nodes { rewritten.append(try rewrite(node, knowsColumns: knowsColumns)) }
    return rewritten
  }

  /// Returns the index of an aggregate among those to compute.
  private mutating func index(
    of call: (function: PredicateFunction, operand: ExpressionNode?, isDistinct: Bool)
  ) throws(ArborError) -> Int {
    guard let function = AggregateExpression.Function(call.function) else {
      stopProgram("Only functions that reduce many values to one are aggregates.")
    }
    let node = Wanted(function: call.function, operand: call.operand, isDistinct: call.isDistinct)
    if let known = nodes.firstIndex(of: node) { return known }
    var expression: BoundExpression?
    if let operand = call.operand {
      // Bound as part of the call, so that the function's requirements for its operand are checked.
      let call = ExpressionNode.call(call.function, [operand], .none)
      _ = try PredicateBinder.bind(call, to: entity, in: schema)
      expression = try PredicateBinder.bind(operand, to: entity, in: schema).expression
    }
    nodes.append(node)
    aggregates.append(
      RowPlan.GroupAggregate(
        function: function, expression: expression, isDistinct: call.isDistinct))
    return aggregates.count - 1
  }

  private func isNoProperty(_ node: ExpressionNode) -> ArborError {
    let name = node.plainPath
    let what = name.map { "\"\($0)\"" } ?? "A property to fetch"
    var error = ArborError(
      .invalidArgument,
      "\(what) is neither a grouping property nor an aggregate. Add it to propertiesToGroupBy, or "
        + "use min, max, sum, average or count.")
    error.entity = entity.name
    error.keyPath = name
    return error
  }
}

extension ExpressionNode {
  /// Returns the aggregate over the objects of a group, such as `@count`, `@sum.salary`,
  /// `sum(salary)` or `count(distinct(name))`, or `nil` for any other expression. The same
  /// functions are not aggregates if they apply to a collection of a single object.
  func aggregate(
    in entity: EntitySchema, _ schema: ModelSchema
  ) -> (function: PredicateFunction, operand: ExpressionNode?, isDistinct: Bool)? {
    switch self {
    case .path(let path):
      guard case .collectionOperator(let name, _)? = path.parts.first else { return nil }
      let rest = KeyPathNode(Array(path.parts.dropFirst()), site: path.site)
      guard let function = PredicateFunction(collectionOperator: name) else { return nil }
      if rest.parts.isEmpty { return function == .count ? (.count, nil, false) : nil }
      return (function, .path(rest), false)
    case .call(let function, let operands, _):
      guard function.isStatistic, operands.count == 1 else { return nil }
      if case .call(.distinct, let inner, _) = operands[0], inner.count == 1,
        inner[0].isSingle(in: entity, schema)
      {
        return (function, inner[0], true)
      }
      guard operands[0].isSingle(in: entity, schema) else { return nil }
      if case .path(let path) = operands[0], path.parts.isEmpty, function == .count {
        return (.count, nil, false)
      }
      return (function, operands[0], false)
    default: return nil
    }
  }

  /// Returns whether the expression is or contains an aggregate.
  func mayAggregate(in entity: EntitySchema, _ schema: ModelSchema) -> Bool {
    if aggregate(in: entity, schema) != nil { return true }
    var mayAggregate = false
    forEachChild { if $0.mayAggregate(in: entity, schema) { mayAggregate = true } }
    return mayAggregate
  }

  /// Returns whether the expression has a single value per object. Errors in it are reported later,
  /// when it is bound.
  private func isSingle(in entity: EntitySchema, _ schema: ModelSchema) -> Bool {
    guard let bound = try? PredicateBinder.bind(self, to: entity, in: schema) else { return true }
    return !bound.kind.isList
  }
}

extension PredicateFunction {
  /// Creates the function for a collection operator, or returns `nil` for any other name.
  init?(collectionOperator name: String) {
    switch name {
    case "@count": self = .count
    case "@sum": self = .sum
    case "@avg": self = .average
    case "@min": self = .min
    case "@max": self = .max
    default: return nil
    }
  }

  /// Whether the function aggregates a collection to a single value.
  var isStatistic: Bool { AggregateExpression.Function(self) != nil }
}
