package import ArborModel

/// The order of a fetch, for records one by one: exactly that of the fetch's results.
package struct RecordOrder {
  private let order: CollatedOrder

  /// What a record is ordered by: values as they are compared, most significant first.
  package typealias Key = [PropertyValue]

  /// - Returns: nil where a key leads over relationships, so that other records decide, or to what
  ///   is computed from the time or by chance.
  /// - Throws: ``ArborError`` `invalidPredicate` where a key cannot be computed.
  package init?(
    _ keys: [BoundSortKey], of family: [EntitySchema], _ environment: PredicateEnvironment
  ) throws(ArborError) {
    var read = PropertiesRead()
    for key in keys { read.add(key) }
    guard !read.readsOthers, !read.isCapricious else { return nil }
    let columns = SortColumns(keys, environment, resolver: nil)
    for entity in family { try columns.prepare(for: entity) }
    order = CollatedOrder(keys, columns: columns)
  }

  /// The key of a record of one of the entities that the order was made for.
  package func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) -> Key {
    do throws(ArborError) {
      return try order.key(number, record, of: entity)
    } catch {
      stopProgram("A key that was compiled for its entity cannot be computed: \(error)")
    }
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
    overlay: (any PendingState)?
  ) throws(StoreError) -> [PropertyValue] {
    try translatingErrors {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      let environment = predicateEnvironment
      let order = CollatedOrder(
        [key], columns: SortColumns([key], environment, resolver: resolver))
      let values = try rows.map { row in
        try order.key(row.number, row.record, of: row.entity)[0]
      }
      try resolver.check()
      return values
    }
  }
}
