internal import ArborModel

/// The subject of planning: a query with its predicate in normal form, and the pending changes over
/// which it runs.
///
/// Created once for a query, and shared by everything that plans, runs and explains it.
final class PlanScope {
  let query: StoreQuery
  /// The query's predicate; empty without one.
  let conjunction: Conjunction
  let schema: ModelSchema
  /// The concrete entities whose objects are wanted, in the order of their numbers.
  let family: [EntitySchema]
  /// The schema, time and locale by which the predicate is evaluated.
  let environment: PredicateEnvironment
  /// The context's pending changes; nil for the store's state alone.
  let overlay: (any PendingState)?

  /// - Throws: ``ArborError`` `invalidPredicate` if an argument does not fit its comparison.
  init(
    _ query: StoreQuery, _ environment: PredicateEnvironment, overlay: (any PendingState)?
  ) throws(ArborError) {
    self.query = query
    schema = environment.schema
    family = query.family(in: environment.schema)
    self.environment = environment
    self.overlay = overlay
    guard let (bound, arguments) = query.predicate else {
      conjunction = Conjunction(conjuncts: [])
      return
    }
    conjunction = try bound.conjunction(arguments: arguments, environment: environment)
  }

  var entity: EntitySchema { query.entity }

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
