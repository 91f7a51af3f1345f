internal import ArborModel

/// What a conjunction is planned for: whose rows, on which transaction, with which constants.
final class PlanScope {
  let source: QuerySource
  let entity: EntitySchema
  /// The concrete entities whose objects are wanted.
  let family: [EntitySchema]
  /// The constants of the predicate, and what it means; nil without a predicate.
  let arguments: [Value]
  let environment: PredicateEnvironment?
  /// The asking context's state.
  let overlay: FetchOverlay?

  init(
    source: QuerySource, entity: EntitySchema, family: [EntitySchema], arguments: [Value],
    environment: PredicateEnvironment?, overlay: FetchOverlay?
  ) {
    self.source = source
    self.entity = entity
    self.family = family
    self.arguments = arguments
    self.environment = environment
    self.overlay = overlay
  }

  /// Whether the store alone knows which objects fulfil a condition on related objects and which
  /// rows lead to them; otherwise the condition is asked of each row.
  func mayRelate(_ condition: RelatedCondition) -> Bool {
    let dependencies = condition.predicate(in: source.schema).dependencies
    guard !dependencies.usesChance, !dependencies.readsAnyEntity else { return false }
    guard let overlay else { return true }
    let relationship = condition.relationship
    // A change of a row's own to-one relationship makes the row a pending one, which is judged by
    // itself; a change of its members need not.
    if relationship.isToMany, overlay.touches(entity) { return false }
    return !overlay.touches(source.schema.entities[relationship.destination])
      && !dependencies.entities.contains { overlay.touches(source.schema.entities[$0]) }
  }

  /// What answers a condition on related objects.
  func executor(of condition: RelatedCondition) throws -> QueryExecutor {
    let predicate = condition.predicate(in: source.schema)
    return try QueryExecutor(
      source, StoreQuery(entity: predicate.entity, predicate: (predicate, arguments)),
      overlay: nil, environment: environment)
  }
}
