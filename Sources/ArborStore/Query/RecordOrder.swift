package import ArborModel

/// The order of a fetch, for records one by one: exactly that of the fetch's results.
package struct RecordOrder {
  private let order: CollatedOrder

  /// What a record is ordered by: values as they are compared, most significant first.
  package typealias Key = [Value]

  /// - Returns: nil where a key's path leads over relationships, so that other records decide.
  package init?(_ keys: [BoundSortKey], schema: ModelSchema) {
    guard keys.allSatisfy(\.path.hops.isEmpty) else { return nil }
    order = CollatedOrder(keys, columns: SortColumns(keys, schema: schema, resolver: nil))
  }

  /// The key of a record.
  package func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) -> Key {
    order.key(number, record, of: entity)
  }

  /// Whether one object comes before another: by their keys, then by their numbers.
  package func isBefore(
    _ left: (key: Key, number: ObjectNumber), _ right: (key: Key, number: ObjectNumber)
  ) -> Bool {
    switch order.compare(left.key, right.key) {
    case .less: true
    case .greater: false
    case .equal: left.number < right.number
    }
  }
}

extension StoreSnapshot {
  /// What rows are ordered by in one key, as it is compared, whatever its path leads over.
  package func sortValues(
    _ key: BoundSortKey,
    of rows: [(number: ObjectNumber, record: RecordView, entity: EntitySchema)],
    overlay: FetchOverlay?
  ) throws(StoreError) -> [Value] {
    try answering {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      let columns = SortColumns([key], schema: store.schema, resolver: resolver)
      let values = rows.map { row in
        CollatedOrder.prepared(
          columns.value(key, row.number, row.record, of: row.entity), key.options)
      }
      try resolver.check()
      return values
    }
  }
}
