internal import ArborModel

/// What a conjunction is planned for: whose rows, with which constants, over which pending changes.
final class PlanScope {
  let schema: ModelSchema
  let entity: EntitySchema
  /// The concrete entities whose objects are wanted, in the order of their numbers.
  let family: [EntitySchema]
  /// The constants of the predicate.
  let arguments: [Value]
  /// What the predicate means.
  let environment: PredicateEnvironment
  /// The asking context's state.
  let overlay: FetchOverlay?

  init(_ query: StoreQuery, _ environment: PredicateEnvironment, overlay: FetchOverlay?) {
    schema = environment.schema
    entity = query.entity
    family = query.family(in: environment.schema)
    arguments = query.predicate?.arguments ?? []
    self.environment = environment
    self.overlay = overlay
  }

  /// Whether the store alone knows which objects fulfil a condition on related objects and which
  /// rows lead to them; otherwise the condition is asked of each row.
  func mayRelate(_ condition: RelatedCondition) -> Bool {
    let dependencies = condition.predicate(in: schema).dependencies
    guard !dependencies.usesChance, !dependencies.readsAnyEntity else { return false }
    guard let overlay else { return true }
    let relationship = condition.relationship
    // A change of a row's own to-one relationship makes the row a pending one, which is evaluated
    // by itself; a change of its members need not.
    if relationship.isToMany, overlay.touches(entity) { return false }
    return !overlay.touches(schema.entities[relationship.destination])
      && !dependencies.entities.contains { overlay.touches(schema.entities[$0]) }
  }

  /// An object as people read it.
  func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: environment.storeID, entityName: schema.entity(of: number)?.name ?? "",
      number: number.sequence)
  }
}
