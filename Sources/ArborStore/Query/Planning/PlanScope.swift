internal import ArborModel

/// The subject of planning: a query with its predicate in normal form, and the pending changes that
/// are merged into its result.
///
/// Created once per query and shared by planning, execution and explanation.
final class PlanScope {
  let query: StoreQuery
  /// The query's predicate. Empty if there is none.
  let conjunction: Conjunction
  let schema: ModelSchema
  /// The concrete entities to fetch, in the order of their object numbers.
  let family: [EntitySchema]
  /// The schema, time and locale for evaluating the predicate.
  let environment: PredicateEnvironment
  /// The context's pending changes, or `nil` to query only the stored state.
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

  /// Returns whether the stored state alone determines which objects satisfy a condition on related
  /// objects and which rows refer to them. Otherwise the condition is evaluated on each row.
  func mayRelate(_ condition: RelatedCondition) -> Bool {
    let dependencies = condition.predicate(in: schema).dependencies
    guard !dependencies.usesChance, !dependencies.readsAnyEntity else { return false }
    guard let overlay else { return true }
    let relationship = condition.relationship
    // Changing a row's own to-one relationship makes it a pending row, which is evaluated
    // separately. Changing its members may not.
    if relationship.isToMany, overlay.touches(entity) { return false }
    return !overlay.touches(schema.entities[relationship.destination])
      && !dependencies.entities.contains { overlay.touches(schema.entities[$0]) }
  }

  /// Returns the object ID for a number.
  func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: environment.storeID, entityName: schema.entity(of: number)?.name ?? "",
      number: number.sequence)
  }
}
