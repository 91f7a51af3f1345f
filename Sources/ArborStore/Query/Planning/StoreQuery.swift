package import ArborModel

/// A fetch as the store understands it: names resolved, predicate and sort keys bound.
package final class StoreQuery: Sendable {
  /// The entity whose objects are wanted.
  package let entity: EntitySchema
  /// Whether objects of entities that inherit from it are wanted too.
  package let includesSubentities: Bool
  /// The condition, bound to ``entity``, and the values of its arguments; nil for all objects.
  package let predicate: (bound: BoundPredicate, arguments: [PropertyValue])?
  /// Most significant first. Objects that agree in all of them, and those of a query without sort
  /// keys, come in the order of their numbers.
  package let sortKeys: [BoundSortKey]
  /// How many rows of each group there are, before ``offset`` and ``limit``; nil for all. Where it
  /// is there, so are sort keys.
  package let groupLimit: BoundGroupLimit?
  /// The greatest number of rows; 0 for all.
  package let limit: Int
  /// How many rows are left out at the beginning.
  package let offset: Int
  /// Behind which row of the order the result begins; nil for the whole.
  package let continuation: RowContinuation?

  package init(
    entity: EntitySchema, includesSubentities: Bool = true,
    predicate: (bound: BoundPredicate, arguments: [PropertyValue])? = nil,
    sortKeys: [BoundSortKey] = [],
    groupLimit: BoundGroupLimit? = nil, limit: Int = 0, offset: Int = 0,
    continuation: RowContinuation? = nil
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sortKeys = sortKeys.isEmpty ? groupLimit?.resultOrder ?? [] : sortKeys
    self.groupLimit = groupLimit
    self.limit = max(0, limit)
    self.offset = max(0, offset)
    self.continuation = continuation
  }

  /// The part of the rows that lies behind one of them.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of rows; 0 for all.
  ///   - row: The row behind which the part begins; nil for the beginning of the query's own rows.
  package func part(limit: Int, behind row: RowContinuation?) -> StoreQuery {
    StoreQuery(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate,
      sortKeys: sortKeys, groupLimit: groupLimit, limit: limit, offset: row == nil ? offset : 0,
      continuation: row ?? continuation)
  }

  /// Behind which number the rows of a query without order begin; nil for all.
  var numberBehind: ObjectNumber? { sortKeys.isEmpty ? continuation?.number : nil }

  /// The concrete entities whose objects are wanted, in the order of their numbers.
  func family(in schema: ModelSchema) -> [EntitySchema] {
    guard includesSubentities else { return entity.isAbstract ? [] : [entity] }
    if entity.concreteFamily.count == 1, !entity.isAbstract { return [entity] }
    return entity.concreteFamily.map { schema.entities[$0] }
  }

  /// How many rows from the beginning of the order decide the result; nil: all of them. Where
  /// groups have a limit, that is of the rows they give.
  var rowsNeeded: Int? {
    guard limit > 0 else { return nil }
    let (sum, overflows) = limit.addingReportingOverflow(offset)
    return overflows ? nil : sum
  }
}

/// A position in a query's order, that of a row which was the last of an earlier answer. The row
/// need not exist any more.
package struct RowContinuation: Sendable, Hashable {
  /// What each sort key found, objects by their numbers.
  package let values: [PropertyValue]
  /// The row's number.
  package let number: ObjectNumber

  package init(values: [PropertyValue], number: ObjectNumber) {
    self.values = values
    self.number = number
  }

  /// The position in an order of rows.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` where no row of the order can have the values.
  func position<Order: RowOrder>(in order: Order) throws(ArborError) -> RowPosition<Order> {
    guard let key = order.key(of: values) else {
      throw ArborError(
        .invalidArgument,
        "The page token doesn't match the request's sort order. Start again from the first page.")
    }
    return RowPosition(key: key, number: number)
  }
}
