internal import ArborModel

/// What a conjunction is planned for: whose rows, on which transaction, with which constants.
struct PlanScope {
  let source: QuerySource
  let entity: EntitySchema
  /// The concrete entities whose objects are wanted.
  let family: [EntitySchema]
  /// The constants of the predicate, and what it means; nil without a predicate.
  let arguments: [Value]
  let environment: PredicateEnvironment?
  /// The asking context's state.
  let overlay: FetchOverlay?

  /// Whether the store alone knows which objects lead to which: conditions on related objects are
  /// asked of each row where the context has changed any.
  var mayRelate: Bool { !(overlay?.hasPendingChanges ?? false) }

  /// What answers a condition on related objects.
  func executor(of condition: RelatedCondition) throws -> QueryExecutor {
    let predicate = condition.predicate(in: source.schema)
    return try QueryExecutor(
      source, StoreQuery(entity: predicate.entity, predicate: (predicate, arguments)),
      overlay: nil, environment: environment)
  }
}
