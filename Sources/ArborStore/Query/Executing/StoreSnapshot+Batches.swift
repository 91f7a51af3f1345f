package import ArborModel

/// Rows a batch at a time, without a list of all.
extension StoreSnapshot {
  /// The numbers of a query's rows where an index finds few of them, or where nothing but sorting
  /// gives their order; nil where ``scan(_:overlay:allocator:)`` gives them batch by batch.
  ///
  /// - Parameter most: How many rows are few.
  package func listedNumbers(
    _ query: StoreQuery, atMost most: Int, overlay: (any PendingState)?
  ) throws(StoreError) -> [ObjectNumber]? {
    let listing = try translatingErrors {
      let executor = try QueryExecutor(source, query, overlay: overlay)
      return try executor.listing(atMost: most).map { (executor: executor, plan: $0) }
    }
    guard let listing else { return nil }
    return try answer(query, overlay: overlay, by: listing.executor) {
      $0.count
    } with: { makeExecutor in
      try makeExecutor().run(listing.plan, into: RowNumbers()).numbers
    }
  }

  /// The rows of a query that has a limit, in its order and from behind its continuation, by a scan
  /// that visits none of those before: along an index, or without sort keys by number.
  ///
  /// - Parameters:
  ///   - overlay: The asking context's state; nil for the store's alone.
  ///   - allocator: Where the records are copied.
  /// - Returns: nil where there is no such scan, or where it met keys that do not tell the order.
  package func scan(
    _ query: StoreQuery, overlay: (any PendingState)?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords? {
    let traversal = try translatingErrors {
      let executor = try QueryExecutor(source, query, overlay: overlay)
      return try executor.planner.planInOrder().map { (executor: executor, plan: $0) }
    }
    guard let traversal else { return nil }
    return try answer(query, overlay: overlay, by: traversal.executor) {
      $0?.rows.count
    } with: { makeExecutor in
      try makeExecutor().collect(traversal.plan, allocator)
    }
  }

  /// Those of some objects that lie behind a query's continuation now.
  package func numbers(
    _ numbers: [ObjectNumber], behindContinuationOf query: StoreQuery, overlay: (any PendingState)?
  ) throws(StoreError) -> [ObjectNumber] {
    try translatingErrors {
      let resolver = SnapshotResolver(try source, overlay: overlay)
      let environment = predicateEnvironment
      let columns = SortColumns(query.sortKeys, environment, resolver: resolver)
      guard let continuation = query.continuation,
        let order = ByteOrder(query.sortKeys, columns: columns)
      else { return [] }
      let position = try continuation.position(in: order)
      let behind = try numbers.filter { number in
        guard let record = resolver.record(of: number), let entity = store.schema.entity(of: number)
        else { return false }
        return try position.isBefore(number, record, of: entity, order)
      }
      try resolver.check()
      return behind
    }
  }
}

extension QueryExecutor {
  /// Collects the rows that a plan finds in the query's order; see
  /// ``StoreSnapshot/scan(_:overlay:allocator:)``.
  fileprivate func collect(
    _ plan: AccessPlan, _ allocator: SlabAllocator
  ) throws -> FetchedRecords? {
    let sink = RowCollector(allocator, known: overlay?.known)
    guard case .ordered = plan.access else {
      return try deliverByNumber(plan, to: sink).sink(as: RowCollector.self).result
    }
    guard let order = ByteOrder(query.sortKeys, columns: sortColumns(query.sortKeys)) else {
      return nil
    }
    return try deliverInOrder(plan, try pendingMatches(), order, to: sink)?
      .sink(as: RowCollector.self).result
  }
}
