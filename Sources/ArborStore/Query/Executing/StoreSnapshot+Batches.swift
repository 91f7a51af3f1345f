package import ArborModel

/// Returns rows in batches, without a list of all rows.
extension StoreSnapshot {
  /// Returns the numbers of a query's rows if an index finds few of them or only sorting produces
  /// their order. Returns `nil` if ``scan(_:overlay:allocator:)`` can return them in batches.
  ///
  /// - Parameter most: The maximum number of rows for which a list is preferred to a scan.
  package func listedNumbers(
    _ query: StoreQuery, atMost most: Int, overlay: (any PendingState)?
  ) throws(StoreError) -> [ObjectNumber]? {
    let listing = try translatingErrors {
      let executor = try QueryExecutor(source, query, overlay: overlay)
      return try executor.listing(atMost: most).map { (executor: executor, plan: $0) }
    }
    guard let listing else { return nil }
    return try answer(
      query, overlay: overlay, by: listing.executor, rows: { $0.count }
    ) { executor in
      try executor.run(listing.plan, into: RowNumbers()).numbers
    }
  }

  /// Returns the rows of a query that has a limit, in its order and after its continuation, by a
  /// scan that skips all earlier rows: along an index, or by number if there are no sort keys.
  ///
  /// - Parameters:
  ///   - overlay: The context's pending changes, or `nil` for the stored state alone.
  ///   - allocator: The allocator of the slabs that records are copied to.
  /// - Returns: `nil` if there is no such scan, or if it encountered truncated keys, which don't
  ///   determine the order.
  package func scan(
    _ query: StoreQuery, overlay: (any PendingState)?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords? {
    let traversal = try translatingErrors {
      let executor = try QueryExecutor(source, query, overlay: overlay)
      return try executor.planner.planInOrder().map { (executor: executor, plan: $0) }
    }
    guard let traversal else { return nil }
    return try answer(
      query, overlay: overlay, by: traversal.executor, rows: { $0?.rows.count }
    ) { executor in
      try executor.collect(traversal.plan, allocator)
    }
  }

  /// Returns those of the given objects that currently follow the query's continuation.
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
