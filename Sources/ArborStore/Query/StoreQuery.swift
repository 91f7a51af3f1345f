package import ArborModel

/// A fetch as the store understands it: names resolved, predicate and sort keys bound.
package struct StoreQuery: Sendable {
  /// The entity whose objects are wanted.
  package let entity: EntitySchema
  /// Whether objects of entities that inherit from it are wanted too.
  package let includesSubentities: Bool
  /// The condition, bound to ``entity``, and the values of its arguments; nil for all objects.
  package let predicate: (bound: BoundPredicate, arguments: [Value])?
  /// Most significant first. Objects that agree in all of them, and those of a query without sort
  /// keys, come in the order of their numbers.
  package let sortKeys: [BoundSortKey]
  /// The greatest number of rows; 0 for all.
  package let limit: Int
  /// How many rows are left out at the beginning.
  package let offset: Int

  package init(
    entity: EntitySchema, includesSubentities: Bool = true,
    predicate: (bound: BoundPredicate, arguments: [Value])? = nil, sortKeys: [BoundSortKey] = [],
    limit: Int = 0, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sortKeys = sortKeys
    self.limit = max(0, limit)
    self.offset = max(0, offset)
  }

  /// How many rows from the beginning of the order decide the result; nil: all of them.
  var rowsNeeded: Int? {
    guard limit > 0 else { return nil }
    let (sum, overflows) = limit.addingReportingOverflow(offset)
    return overflows ? nil : sum
  }
}
