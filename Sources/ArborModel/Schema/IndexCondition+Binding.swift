extension IndexCondition {
  /// The condition with its names resolved against an entity the index covers.
  ///
  /// - Throws: never for a model that passed the rules.
  package func bound(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundPredicate {
    try PredicateBinder.bind(predicate, to: entity, in: schema)
  }
}
