package import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Fetches the stored and pending objects that match the query's predicate, in its order.
  ///
  /// - Parameters:
  ///   - overlay: The context's pending changes, or `nil` for the stored state alone.
  ///   - allocator: The allocator of the slabs that records are copied to.
  /// - Throws: `corrupted` for damaged records, `query` if an argument does not fit its comparison.
  package func fetch(
    _ query: StoreQuery, overlay: (any PendingState)?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords {
    if query.offset == 0, query.continuation == nil, let (predicate, arguments) = query.predicate,
      let found = try lookUp(
        predicate, arguments, of: query.entity, includesSubentities: query.includesSubentities,
        overlay: overlay, allocator)
    {
      return found.row.map { FetchedRecords($0, in: allocator.slab) } ?? FetchedRecords()
    }
    return try planAndFetch(query, overlay, allocator)
  }

  private func planAndFetch(
    _ query: StoreQuery, _ overlay: (any PendingState)?, _ allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords {
    try answer(query, overlay: overlay, rows: { $0.rows.count }) { executor in
      try executor.fetch(allocator)
    }
  }

  /// Fetches the first object of an entity that matches a predicate, in the given order, with the
  /// slab that contains its record's copy, or returns `nil` if there isn't one.
  ///
  /// - Throws: The same errors as ``fetch(_:overlay:allocator:)``.
  package func first(
    of entity: EntitySchema, _ predicate: BoundPredicate, _ arguments: [PropertyValue],
    _ sortKeys: [BoundSortKey], overlay: (any PendingState)?, allocator: SlabAllocator
  ) throws(StoreError) -> (row: FetchedRow, slab: RecordSlab?)? {
    // A look-up by a unique attribute doesn't even create a query.
    if let found = try lookUp(predicate, arguments, of: entity, overlay: overlay, allocator) {
      return found.row.map { ($0, allocator.slab) }
    }
    let query = StoreQuery(
      entity: entity, predicate: (predicate, arguments), sortKeys: sortKeys, limit: 1)
    return try planAndFetch(query, overlay, allocator).first
  }

  /// Returns the numbers of the objects that a fetch would return, without copying records.
  package func fetchNumbers(
    _ query: StoreQuery, overlay: (any PendingState)?
  ) throws(StoreError) -> [ObjectNumber] {
    try answer(query, overlay: overlay, rows: { $0.count }) { executor in
      try executor.run(into: RowNumbers()).numbers
    }
  }

  /// Returns whether a fetch would return anything. Ends at the first row.
  package func exists(_ query: StoreQuery, overlay: (any PendingState)?) throws(StoreError) -> Bool
  {
    let first = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, groupLimit: query.offset > 0 ? query.groupLimit : nil, limit: 1,
      offset: query.offset)
    return try answer(
      first, for: .existence, overlay: overlay, rows: { _ in nil }
    ) { executor in
      try executor.run(into: RowCounter()).count > 0
    }
  }

  /// Returns the current values of a query's sort keys for a row, or `nil` if the object does not
  /// exist.
  package func continuation(
    of number: ObjectNumber, in query: StoreQuery, overlay: (any PendingState)?
  ) throws(StoreError) -> RowContinuation? {
    try translatingErrors {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      guard let record = resolver.record(of: number), let entity = store.schema.entity(of: number)
      else {
        try resolver.check()
        return nil
      }
      let environment = predicateEnvironment
      let values = try SortColumns(query.sortKeys, environment, resolver: resolver)
        .values(number, record, of: entity)
      try resolver.check()
      return RowContinuation(values: values, number: number)
    }
  }

  /// Returns the number of rows that a fetch would return. Reads no rows if an index alone
  /// determines it.
  package func count(_ query: StoreQuery, overlay: (any PendingState)?) throws(StoreError) -> Int {
    let unordered = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, groupLimit: query.groupLimit, limit: query.limit,
      offset: query.offset)
    return try answer(unordered, for: .count, overlay: overlay, rows: { $0 }) { executor in
      try executor.count()
    }
  }

  /// Returns the plan of a fetch of stored objects. It is based on counts alone, unless the fetch
  /// is run.
  ///
  /// - Parameters:
  ///   - showsValues: Whether the values of conditions are shown.
  ///   - analyzes: Whether the fetch is run to count the rows of every step.
  package func explain(
    _ query: StoreQuery, showsValues: Bool = true, analyzes: Bool = false
  ) throws(StoreError) -> QueryPlan {
    try translatingErrors {
      var source = try source
      if analyzes { source.keyTally = KeyTally() }
      let executor = try QueryExecutor(source, query, overlay: nil)
      return analyzes
        ? try executor.analyze(showsValues: showsValues)
        : try executor.explain(showsValues: showsValues)
    }
  }

  /// Returns the effect that an index would have on a fetch of stored objects if it existed, or
  /// `nil` if the fetch wouldn't use it. Reads every object.
  package func effect(
    of index: FetchIndexDescription, on query: StoreQuery
  ) throws(StoreError) -> IndexEffect? {
    try translatingErrors { try QueryExecutor(source, query, overlay: nil).effect(of: index) }
  }

  /// Returns whether an object matches a predicate, which may follow relationships.
  ///
  /// - Parameter predicate: The predicate, compiled for the object's entity.
  package func evaluate(
    _ predicate: CompiledPredicate, _ record: RecordView, _ number: ObjectNumber,
    overlay: (any PendingState)?
  ) throws(StoreError) -> Bool {
    try resolving(overlay: overlay) { predicate(record, number, $0) }
  }

  /// Runs `body` with a resolver that follows relationships for readers of expressions.
  package func resolving<R>(
    overlay: (any PendingState)?, _ body: (any RecordResolver) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try translatingErrors {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      let result = try body(resolver)
      try resolver.check()
      return result
    }
  }

  /// The schema, store and locale for predicates and orders, at the current time.
  var predicateEnvironment: PredicateEnvironment {
    PredicateEnvironment(
      schema: store.schema, storeID: store.id, locale: locale, chargesWork: limit.chargesWork)
  }

  var source: QuerySource {
    get throws {
      QuerySource(
        store: store, reader: try reader, unfinished: unfinishedIndexes, limit: limit,
        locale: locale)
    }
  }
}
