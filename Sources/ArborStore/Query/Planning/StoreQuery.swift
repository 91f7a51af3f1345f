package import ArborModel

/// A fetch in the form that the store runs: with resolved names and a bound predicate and sort
/// keys.
package final class StoreQuery: Sendable {
  /// The entity to fetch.
  package let entity: EntitySchema
  /// Whether objects of inheriting entities are fetched too.
  package let includesSubentities: Bool
  /// The predicate, bound to ``entity``, and its arguments. `nil` fetches all objects.
  package let predicate: (bound: BoundPredicate, arguments: [PropertyValue])?
  /// The sort keys, most significant first. Objects that are equal in all of them, and all objects
  /// of a query without sort keys, are ordered by number.
  package let sortKeys: [BoundSortKey]
  /// The limit per group, applied before ``offset`` and ``limit``. `nil` for none. A query with a
  /// group limit always has sort keys.
  package let groupLimit: BoundGroupLimit?
  /// The rows of each group that determine the result, or `nil` if all rows do.
  let groupNeeds: GroupNeeds?
  /// The maximum number of rows, or 0 for no limit.
  package let limit: Int
  /// The number of rows to skip at the beginning.
  package let offset: Int
  /// The row after which the result begins, or `nil` for the whole result.
  package let continuation: RowContinuation?

  package init(
    entity: EntitySchema, includesSubentities: Bool = true,
    predicate: (bound: BoundPredicate, arguments: [PropertyValue])? = nil,
    sortKeys: [BoundSortKey] = [],
    groupLimit: BoundGroupLimit? = nil, groupNeeds: GroupNeeds? = nil, limit: Int = 0,
    offset: Int = 0, continuation: RowContinuation? = nil
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sortKeys = sortKeys.isEmpty ? groupLimit?.resultOrder ?? [] : sortKeys
    self.groupLimit = groupLimit
    self.groupNeeds = groupLimit.map { GroupNeeds($0) } ?? groupNeeds
    self.limit = max(0, limit)
    self.offset = max(0, offset)
    self.continuation = continuation
  }

  /// Returns the query with objects in place of each `CLOSURE` of constant objects.
  func resolvingClosures(
    _ environment: PredicateEnvironment, _ resolver: () -> SnapshotResolver
  ) throws -> StoreQuery {
    guard let predicate, predicate.bound.hasConstantClosures else { return self }
    let resolver = resolver()
    let bound = predicate.bound.resolvingClosures(
      arguments: predicate.arguments, environment, resolver)
    try resolver.check()
    return StoreQuery(
      entity: entity, includesSubentities: includesSubentities,
      predicate: (bound, predicate.arguments), sortKeys: sortKeys, groupLimit: groupLimit,
      groupNeeds: groupNeeds, limit: limit, offset: offset, continuation: continuation)
  }

  /// Returns the query for the rows after a given one.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of rows, or 0 for no limit.
  ///   - row: The row after which the result begins, or `nil` for the beginning of the query's own
  ///     rows.
  package func part(limit: Int, after row: RowContinuation?) -> StoreQuery {
    StoreQuery(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate,
      sortKeys: sortKeys, groupLimit: groupLimit, limit: limit, offset: row == nil ? offset : 0,
      continuation: row ?? continuation)
  }

  /// Hints about conditions that are probably not as intended; see ``QueryPlan/notes``.
  var notes: [String] { predicate.map { $0.bound.root.notes($0.arguments) } ?? [] }

  /// The number after which the rows of a query without sort keys begin, or `nil` for all rows.
  var startsAfter: ObjectNumber? { sortKeys.isEmpty ? continuation?.number : nil }

  /// Returns the concrete entities to fetch, in the order of their object numbers.
  func family(in schema: ModelSchema) -> [EntitySchema] {
    guard includesSubentities else { return entity.isAbstract ? [] : [entity] }
    if entity.concreteFamily.count == 1, !entity.isAbstract { return [entity] }
    return entity.concreteFamily.map { schema.entities[$0] }
  }

  /// The number of rows from the beginning of the order that determine the result, or `nil` if all
  /// of them do. With a group limit, these are rows after applying it.
  var rowsNeeded: Int? {
    guard limit > 0 else { return nil }
    let (sum, overflows) = limit.addingReportingOverflow(offset)
    return overflows ? nil : sum
  }
}

/// A position in the order of a query: the last row of an earlier result. The row may have been
/// deleted since.
package struct RowContinuation: Sendable, Hashable {
  /// The values of the sort keys, with objects as their numbers.
  package let values: [PropertyValue]
  package let number: ObjectNumber

  package init(values: [PropertyValue], number: ObjectNumber) {
    self.values = values
    self.number = number
  }

  /// Returns the position in an order of rows.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the values cannot occur in the order.
  func position<Order: RowOrder>(in order: Order) throws(ArborError) -> RowPosition<Order> {
    guard let key = order.key(of: values) else {
      throw ArborError(
        .invalidArgument,
        "The page token doesn't match the request's sort order. Start again from the first page.")
    }
    return RowPosition(key: key, number: number)
  }
}
