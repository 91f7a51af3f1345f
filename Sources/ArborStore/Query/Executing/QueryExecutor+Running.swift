internal import ArborModel

/// Delivers rows to a sink: in the query's order, with pending rows merged in, after the
/// continuation, and with offset and limit applied.
///
/// A plan's stored rows come from `visit(_:_:)` or, along an index in the query's order, from
/// `visit(inOrder:_:)`. A ``RowDelivery`` takes them one by one and hands them over to the sink in
/// batches. If they have to be sorted, a first delivery fills the ``RowSorter``, and a second one
/// takes its rows.
extension QueryExecutor {
  /// Runs the query and copies the records of rows that the context has not registered.
  func fetch(_ allocator: SlabAllocator) throws -> FetchedRecords {
    let plan = try plan()
    let sink = RowCollector(allocator, known: overlay?.known, expected: expectedRows(plan))
    return try run(plan, into: sink).result
  }

  /// Runs the query and returns the sink with its rows.
  func run<Sink: RowSink>(into sink: Sink) throws -> Sink { try run(plan(), into: sink) }

  /// Runs a plan of the query and returns the sink with its rows.
  func run<Sink: RowSink>(_ plan: AccessPlan, into sink: Sink) throws -> Sink {
    try delivery(plan, to: sink).sink(as: Sink.self)
  }

  private func delivery(_ plan: AccessPlan, to sink: any RowSink) throws -> RowDelivery {
    if let limit = query.groupLimit { return try deliverGrouped(limit, plan, to: sink) }
    if query.sortKeys.isEmpty { return try deliverByNumber(plan, to: sink) }
    var plan = plan
    if case .ordered = plan.access, query.continuation == nil, !hasPendingChanges {
      // The index provides the order, so rows need not be compared.
      var rows = limited(sink)
      if try visit(inOrder: plan, &rows) { return rows }
      plan = try self.plan(withoutOrder: true)
    }
    let columns = sortColumns(query.sortKeys)
    if let order = ByteOrder(query.sortKeys, columns: columns, usually: family.first) {
      return try deliverSorted(plan, order, to: sink)
    }
    return try deliverSorted(plan, CollatedOrder(query.sortKeys, columns: columns), to: sink)
  }

  /// Returns the delivery to a sink, with the query's offset and limit.
  func limited(_ sink: any RowSink, pending: [PendingRow] = []) -> RowDelivery {
    RowDelivery(to: sink, offset: query.offset, limit: query.limit, pending: pending)
  }

  // MARK: By number

  func deliverByNumber(_ plan: AccessPlan, to sink: any RowSink) throws -> RowDelivery {
    let pending = try pendingMatches().filter {
      $0.number.rawValue > query.continuation?.number.rawValue ?? 0
    }
    var rows = limited(sink, pending: pending)
    if case .skipping = plan.access {
      if try visit(skipping: plan, &rows) { return rows }
      return try deliverByNumber(self.plan(withoutOrder: true), to: sink)
    }
    try visit(plan, &rows)
    return rows
  }

  /// Returns the number of rows to reserve space for: the rows of the plan if no condition remains
  /// to be evaluated, or at most one page for a scan in order. Otherwise 0.
  private func expectedRows(_ plan: AccessPlan) -> Int {
    guard query.continuation == nil, query.groupLimit == nil, plan.residual.isEmpty else {
      return 0
    }
    let rows: Int
    switch plan.access {
    case .nothing, .skipping: return 0
    case .ordered: rows = query.offset + min(query.limit, 100)
    case .scan(let count): rows = count
    case .numbers(let list): rows = list.count.rows
    }
    return max(0, min(query.limit > 0 ? query.limit : .max, rows - query.offset))
  }

  // MARK: Sorted

  private func deliverSorted<Order: RowOrder>(
    _ plan: AccessPlan, _ order: Order, to sink: any RowSink
  ) throws -> RowDelivery {
    let pending = try pendingMatches()
    var plan = plan
    if case .ordered = plan.access {
      if let rows = try deliverInOrder(plan, pending, order, to: sink) { return rows }
      order.dropKeys()
      plan = try self.plan(withoutOrder: true)
    }
    var sorter = try sorter(order)
    var unsorted = RowDelivery(to: RowHandler { try sorter.take($0, of: $1) }, pending: pending)
    try visit(plan, &unsorted)
    return try deliver(&sorter, to: sink)
  }

  /// Delivers the rows by scanning an index in the query's order. Returns `nil` if the scan was
  /// abandoned.
  func deliverInOrder<Order: RowOrder>(
    _ plan: AccessPlan, _ pending: [PendingRow], _ order: Order, to sink: any RowSink
  ) throws -> RowDelivery? {
    guard !pending.isEmpty else { return try deliver(plan, order, limited(sink)) }
    // The first rows of the result are among the first stored rows and the pending rows.
    var sorter = try sorter(order)
    let first = RowDelivery(
      to: RowHandler { try sorter.take($0, of: $1) }, limit: query.rowsNeeded ?? 0)
    guard try deliver(plan, order, first) != nil else { return nil }
    for row in pending {
      try sorter.add(FoundRow(number: row.number, state: .pending(row.record)), of: row.entity)
    }
    return try deliver(&sorter, to: sink)
  }

  /// Scans along an index and delivers the rows after the continuation. Returns `nil` if the scan
  /// was abandoned.
  private func deliver<Order: RowOrder>(
    _ plan: AccessPlan, _ order: Order, _ rows: RowDelivery
  ) throws -> RowDelivery? {
    var rows = rows
    guard let continuation = query.continuation else {
      return try visit(inOrder: plan, &rows) ? rows : nil
    }
    let position = try continuation.position(in: order)
    var behind = RowDelivery(
      to: RowHandler(rowsWanted: rows.rowsWanted) { found, entity in
        for index in found.indices {
          let row = found[index]
          guard try position.isBefore(row.number, row.record, of: entity, order) else { continue }
          guard try rows.take(row.number, row.state, of: entity) else { return false }
        }
        return try rows.handOver()
      })
    return try visit(inOrder: plan.begun(behind: continuation, query), &behind) ? rows : nil
  }

  /// Returns a sorter that keeps as many of the first rows as the query needs.
  func sorter<Order: RowOrder>(_ order: Order) throws -> RowSorter<Order> {
    try RowSorter(
      order, maximumCount: query.rowsNeeded, behind: query.continuation, limit: source.limit)
  }

  /// Delivers a sorter's rows to the sink. They are sorted in place.
  func deliver<Order: RowOrder>(
    _ sorter: inout RowSorter<Order>, to sink: any RowSink
  ) throws -> RowDelivery {
    try resolver.check()
    let began = tally.map { _ in ContinuousClock.now }
    var rows = limited(sink)
    try sorter.drain(into: &rows)
    try rows.finish()
    try resolver.check()
    if let began { tally?.noteSort(since: began) }
    return rows
  }
}
