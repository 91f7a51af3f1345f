internal import ArborLocks

/// The orders that fetches of one entity ask for, their key paths resolved once.
package final class BoundOrders: Sendable {
  /// How many orders are kept; the oldest goes first.
  private static let capacity = 16

  private let known = Lock<[(keys: [SortKey], bound: [BoundSortKey])]>([])

  package init() {}

  fileprivate subscript(keys: [SortKey]) -> [BoundSortKey]? {
    known.withLock { known in known.first { $0.keys == keys }?.bound }
  }

  fileprivate func keep(_ keys: [SortKey], _ bound: [BoundSortKey]) {
    known.withLock { known in
      if known.count >= Self.capacity { known.removeFirst() }
      known.append((keys, bound))
    }
  }
}

extension [SortKey] {
  /// Resolves the paths of an order's keys. The entity keeps what was resolved, so that doing it
  /// again costs a look-up.
  ///
  /// - Throws: ``ArborError`` as ``SortKey/bind(to:in:)``.
  package func bind(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> [BoundSortKey] {
    if isEmpty { return [] }
    if let known = entity.orders[self] { return known }
    var bound: [BoundSortKey] = []
    for key in self { bound.append(try key.bind(to: entity, in: schema)) }
    entity.orders.keep(self, bound)
    return bound
  }
}
