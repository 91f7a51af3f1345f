/// Resolution of a predicate's names for an entity.
package enum PredicateBinder {
  /// Binds a predicate to an entity. The binding is cached in the shape.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the text is malformed, a name is unknown, a
  ///   path cannot be followed, a variable is unbound, a function is not registered, or an operator
  ///   has invalid operands.
  package static func bind(
    _ predicate: FetchPredicate, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    try bind(predicate.shape, to: entity, in: schema)
  }

  /// Binds the shape of a predicate to an entity. See ``bind(_:to:in:)``.
  package static func bind(
    _ shape: ParsedPredicate, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    if let known = shape.binding(to: entity) { return known }
    let node = try shape.outcome.get()
    for constant in shape.constants { try constant.check(in: entity) }
    var binding = PredicateBinding(entity: entity, schema: schema)
    let bound = BoundPredicate(entity: entity, root: try binding.bind(node))
    shape.keep(bound)
    return bound
  }

  /// Binds an expression to an entity, and returns the kind of its value.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` for the same reasons as when a predicate is bound.
  package static func bind(
    _ expression: ExpressionNode, to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> (expression: BoundExpression, kind: ValueKind) {
    var binding = PredicateBinding(entity: entity, schema: schema)
    let bound = try binding.bind(expression)
    return (bound.expression, bound.kind)
  }
}
