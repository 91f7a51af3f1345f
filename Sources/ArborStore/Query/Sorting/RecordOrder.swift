package import ArborModel

/// The order of a fetch, for comparing individual records. Identical to the order of the fetch's
/// results.
package struct RecordOrder {
  private let order: CollatedOrder
  private let firstOptions: SortKey.Options

  /// The sort values of a record in the form in which they are compared, most significant first.
  package typealias Key = [PropertyValue]

  /// - Returns: `nil` if a key follows a relationship, so that other records affect it, if it
  ///   depends on the time or on random values, or if it reads binary values that are stored
  ///   outside of records.
  /// - Throws: ``ArborError`` `invalidPredicate` if a key cannot be computed.
  package init?(
    _ keys: [BoundSortKey], of family: [EntitySchema], _ environment: PredicateEnvironment
  ) throws(ArborError) {
    var read = PropertiesRead()
    for key in keys { read.add(key) }
    guard !read.readsOthers, !read.isCapricious,
      !keys.contains(where: { $0.path?.leaf.isExternal ?? false })
    else { return nil }
    let columns = SortColumns(keys, environment, resolver: nil)
    for entity in family { try columns.prepare(for: entity) }
    order = CollatedOrder(keys, columns: columns)
    firstOptions = keys.first?.options ?? []
  }

  /// Returns the section of a key, or `nil` if the order has no sort keys.
  package func section(of key: Key) -> DistinctValue? {
    key.first.map { CollatedOrder.section($0, firstOptions) }
  }

  /// Returns the key of a record, which must belong to one of the order's entities.
  package func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) -> Key {
    do throws(ArborError) {
      return try order.key(number, record, of: entity)
    } catch {
      stopProgram("A key that was compiled for its entity cannot be computed: \(error)")
    }
  }

  /// Returns whether one object precedes another: by key, then by number.
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
  /// Returns the sections of the given rows by a sort key, which may follow relationships.
  package func sections(
    by key: BoundSortKey,
    of rows: [(number: ObjectNumber, record: RecordView, entity: EntitySchema)],
    overlay: (any PendingState)?
  ) throws(StoreError) -> [DistinctValue] {
    try translatingErrors {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      let environment = predicateEnvironment
      let order = CollatedOrder(
        [key], columns: SortColumns([key], environment, resolver: resolver))
      let sections = try rows.map { row in
        let value = try order.key(row.number, row.record, of: row.entity)[0]
        return CollatedOrder.section(value, key.options)
      }
      try resolver.check()
      return sections
    }
  }
}
