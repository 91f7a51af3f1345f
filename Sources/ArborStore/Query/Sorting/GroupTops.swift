internal import ArborModel

/// Keeps the first rows of every group (top-N per group), in a binary heap per group: one pass over
/// the rows, and memory only for the rows that are kept.
struct GroupTops<Order: RowOrder> {
  private let groups: SortColumns
  private let count: Int
  private let makeOrder: () -> Order
  private var indices: [DistinctValue: Int] = [:]
  // Each sorter has its own order, whose keys it rebuilds when too many are stale.
  private var sorters: [RowSorter<Order>] = []

  init(_ groups: SortColumns, count: Int, order makeOrder: @escaping () -> Order) {
    self.groups = groups
    self.count = count
    self.makeOrder = makeOrder
  }

  /// Takes rows of one entity. Always returns `true`, because more rows are wanted.
  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices { try add(rows[index], of: entity) }
    return true
  }

  private mutating func add(_ row: FoundRow, of entity: EntitySchema) throws {
    let key = DistinctValue(.list(try groups.values(row.number, row.record, of: entity)))
    let index: Int
    if let known = indices[key] {
      index = known
    } else {
      index = sorters.count
      indices[key] = index
      sorters.append(try RowSorter(makeOrder(), maximumCount: count))
    }
    try sorters[index].add(row, of: entity)
  }

  /// Delivers the rows that were kept, group by group.
  mutating func drain(into rows: inout RowDelivery) throws {
    for index in sorters.indices { try sorters[index].drain(into: &rows) }
  }
}

extension QueryExecutor {
  /// Delivers the rows of a query with a group limit: the first rows of each group, with the
  /// query's order, continuation, offset and limit applied.
  func deliverGrouped(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, to sink: any RowSink
  ) throws -> RowDelivery {
    let columns = sortColumns(query.sortKeys)
    if let order = ByteOrder(query.sortKeys, columns: columns, usually: family.first) {
      return try deliverGrouped(limit, plan, order, to: sink)
    }
    return try deliverGrouped(
      limit, plan, CollatedOrder(query.sortKeys, columns: columns), to: sink)
  }

  private func deliverGrouped<Order: RowOrder>(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, _ order: Order, to sink: any RowSink
  ) throws -> RowDelivery {
    var sorter = try sorter(order)
    var tops = RowDelivery(to: RowHandler { try sorter.take($0, of: $1) })
    guard try visitTops(limit, plan, &tops) else {
      order.dropKeys()
      return try deliverGrouped(limit, self.plan(withoutOrder: true), order, to: sink)
    }
    return try deliver(&sorter, to: sink)
  }

  /// Visits the first rows of each group, group by group. Returns `false` if a skip scan was
  /// abandoned; the caller must then discard the rows.
  private func visitTops(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, _ rows: inout RowDelivery
  ) throws -> Bool {
    let pending = try pendingMatches()
    // The scan finds exactly the first rows of each group.
    if case .skipping = plan.access, pending.isEmpty { return try visit(skipping: plan, &rows) }
    let columns = sortColumns(limit.sortKeys)
    guard ByteOrder(limit.sortKeys, columns: columns) != nil else {
      return try visitTops(limit, plan, pending, &rows) {
        CollatedOrder(limit.sortKeys, columns: columns)
      }
    }
    let usual = family.first
    return try visitTops(limit, plan, pending, &rows) {
      guard let order = ByteOrder(limit.sortKeys, columns: columns, usually: usual) else {
        stopProgram("A second byte order of the same sort keys could not be created.")
      }
      return order
    }
  }

  private func visitTops<Order: RowOrder>(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, _ pending: [PendingRow],
    _ rows: inout RowDelivery, order makeOrder: @escaping () -> Order
  ) throws -> Bool {
    var tops = GroupTops(sortColumns([limit.key]), count: limit.count, order: makeOrder)
    var all = RowDelivery(to: RowHandler { try tops.take($0, of: $1) }, pending: pending)
    if case .skipping = plan.access {
      guard try visit(skipping: plan, &all) else { return false }
    } else {
      try visit(plan, &all)
    }
    try tops.drain(into: &rows)
    try rows.finish()
    return true
  }
}
