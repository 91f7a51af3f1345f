internal import ArborModel

/// The path of rows to a sink: in the query's order, with the context's pending rows among the
/// store's, after the continuation, with offset and limit applied.
extension QueryExecutor {
  /// Runs the query, and copies the records of rows that the context has not registered.
  func fetch(_ allocator: SlabAllocator) throws -> FetchedRecords {
    let plan = try plan()
    let known = overlay?.known
    let sink = RowCollector(allocator, known: known, expected: expectedRows(plan))
    return try run(plan, into: sink).result
  }

  /// Runs the query and returns the sink, which has taken its rows.
  func run<Sink: RowSink>(into sink: consuming Sink) throws -> Sink {
    try run(plan(), into: sink)
  }

  /// Runs a plan of the query and returns the sink, which has taken the rows.
  func run<Sink: RowSink>(_ plan: AccessPlan, into sink: consuming Sink) throws -> Sink {
    if let limit = query.groupLimit { return try runGrouped(limit, plan, into: sink) }
    if query.sortKeys.isEmpty { return try runByNumber(plan, into: sink) }
    var plan = plan
    if case .ordered = plan.access, query.continuation == nil, !hasPendingChanges {
      // No row has to be compared with another.
      var limited = LimitedRows(copy sink, offset: query.offset, limit: query.limit)
      if try visit(inOrder: plan, &limited) { return limited.base }
      plan = try self.plan(withoutOrder: true)
    }
    let columns = sortColumns(query.sortKeys)
    if let order = ByteOrder(query.sortKeys, columns: columns, usually: family.first) {
      return try runSorted(plan, order, into: sink)
    }
    return try runSorted(
      plan, CollatedOrder(query.sortKeys, columns: columns), into: sink)
  }

  // MARK: By number

  func runByNumber<Sink: RowSink>(
    _ plan: AccessPlan, into sink: consuming Sink
  ) throws -> Sink {
    let pending = try pendingMatches().filter {
      $0.number.rawValue > query.continuation?.number.rawValue ?? 0
    }
    var limited = LimitedRows(sink, offset: query.offset, limit: query.limit)
    guard !pending.isEmpty else {
      try visit(plan, &limited)
      return limited.base
    }
    var merged = MergedRows(limited, pending)
    try visit(plan, &merged)
    try merged.finish()
    return merged.base.base
  }

  /// The number of rows to reserve space for: all that the plan finds, if no condition is left to be
  /// evaluated, or a limit of no more than a page; otherwise 0.
  private func expectedRows(_ plan: AccessPlan) -> Int {
    guard query.continuation == nil, query.groupLimit == nil, plan.residual.isEmpty else {
      return 0
    }
    let rows: Int
    switch plan.access {
    case .nothing: return 0
    case .ordered: rows = query.offset + min(query.limit, 100)
    case .scan(let count): rows = count
    case .numbers(let list): rows = list.count.rows
    }
    return max(0, min(query.limit > 0 ? query.limit : .max, rows - query.offset))
  }

  // MARK: Sorted

  private func runSorted<Order: RowOrder, Sink: RowSink>(
    _ plan: AccessPlan, _ order: Order, into sink: consuming Sink
  ) throws -> Sink {
    let pending = try pendingMatches()
    var plan = plan
    if case .ordered = plan.access {
      if let full = try runInOrder(plan, pending, order, into: sink) { return full }
      order.dropKeys()
      plan = try self.plan(withoutOrder: true)
    }
    var sorter = try RowSorter(
      order, most: query.rowsNeeded, behind: query.continuation, limit: source.limit)
    try visit(plan, &sorter)
    return try drain(&sorter, pending, sink)
  }

  /// Scans along an index that has the query's order; returns nil if the scan was given up.
  func runInOrder<Order: RowOrder, Sink: RowSink>(
    _ plan: AccessPlan, _ pending: [PendingRow], _ order: Order, into sink: Sink
  ) throws -> Sink? {
    guard pending.isEmpty else {
      // The first rows of the store and the pending ones hold the first rows of both.
      let sorter = try RowSorter(
        order, most: query.rowsNeeded, behind: query.continuation, limit: source.limit)
      let first = LimitedRows(sorter, limit: query.rowsNeeded ?? 0)
      guard var sorted = try continued(plan, order, first)?.base else { return nil }
      return try drain(&sorted, pending, sink)
    }
    let limited = LimitedRows(sink, offset: query.offset, limit: query.limit)
    return try continued(plan, order, limited)?.base
  }

  /// Scans along an index and hands on what lies behind the continuation; nil where the scan was
  /// given up.
  private func continued<Order: RowOrder, Sink: RowSink>(
    _ plan: AccessPlan, _ order: Order, _ sink: consuming Sink
  ) throws -> Sink? {
    guard let continuation = query.continuation else {
      var sink = sink
      return try visit(inOrder: plan, &sink) ? sink : nil
    }
    var behind = ContinuedRows(
      base: sink, order: order, position: try continuation.position(in: order))
    return try visit(inOrder: plan.begun(behind: continuation, query), &behind) ? behind.base : nil
  }

  private func drain<Order: RowOrder, Sink: RowSink>(
    _ sorter: inout RowSorter<Order>, _ pending: [PendingRow], _ sink: consuming Sink
  ) throws -> Sink {
    for row in pending {
      _ = try sorter.take(row.number, .pending(row.record), of: row.entity)
    }
    try resolver.check()
    var limited = LimitedRows(sink, offset: query.offset, limit: query.limit)
    try sorter.drain(into: &limited)
    try resolver.check()
    return limited.base
  }
}
