internal import ArborModel

/// Keeps the first rows of every group, in a bounded heap for each: one pass over the rows, and
/// memory for what is kept.
struct GroupTops<Order: RowOrder>: RowSink {
  private let groups: SortColumns
  private let count: Int
  private let makeOrder: () -> Order
  private var indices: [DistinctValue: Int] = [:]
  // Each has an order of its own, whose keys it renews when too many are stale.
  private var sorters: [RowSorter<Order>] = []

  init(_ groups: SortColumns, count: Int, order makeOrder: @escaping () -> Order) {
    self.groups = groups
    self.count = count
    self.makeOrder = makeOrder
  }

  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool {
    let key = DistinctValue(.list(try groups.values(number, row.record, of: entity)))
    let index: Int
    if let known = indices[key] {
      index = known
    } else {
      index = sorters.count
      indices[key] = index
      sorters.append(try RowSorter(makeOrder(), most: count))
    }
    _ = try sorters[index].take(number, row, of: entity)
    return true
  }

  /// Hands on what was kept, group by group.
  mutating func drain<Sink: RowSink>(into sink: inout Sink) throws {
    for index in sorters.indices { try sorters[index].drain(into: &sink) }
  }
}

extension QueryExecutor {
  /// The answer of a query with a limit for each group: the first rows of each, then the query's
  /// order, continuation, offset and limit over them.
  func runGrouped<Sink: RowSink>(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, into sink: consuming Sink
  ) throws -> Sink {
    let columns = sortColumns(limit.sortKeys)
    guard ByteOrder(limit.sortKeys, columns: columns) != nil else {
      return try runGrouped(limit, plan, into: sink) {
        CollatedOrder(limit.sortKeys, columns: columns)
      }
    }
    let usual = family.first
    return try runGrouped(limit, plan, into: sink) {
      guard let order = ByteOrder(limit.sortKeys, columns: columns, usually: usual) else {
        preconditionFailure("An order has its form in bytes once and not again.")
      }
      return order
    }
  }

  private func runGrouped<Order: RowOrder, Sink: RowSink>(
    _ limit: BoundGroupLimit, _ plan: AccessPlan, into sink: consuming Sink,
    order makeOrder: @escaping () -> Order
  ) throws -> Sink {
    var tops = GroupTops(sortColumns([limit.key]), count: limit.count, order: makeOrder)
    try visit(plan, &tops)
    for row in try pendingMatches() {
      _ = try tops.take(row.number, .pending(row.record), of: row.entity)
    }
    try resolver.check()
    let columns = sortColumns(query.sortKeys)
    if let order = ByteOrder(query.sortKeys, columns: columns, usually: family.first) {
      return try drain(&tops, order, into: sink)
    }
    return try drain(&tops, CollatedOrder(query.sortKeys, columns: columns), into: sink)
  }

  private func drain<Inner: RowOrder, Outer: RowOrder, Sink: RowSink>(
    _ tops: inout GroupTops<Inner>, _ order: Outer, into sink: consuming Sink
  ) throws -> Sink {
    var sorter = try RowSorter(
      order, most: query.rowsNeeded, behind: query.continuation, limit: source.limit)
    try tops.drain(into: &sorter)
    var limited = LimitedRows(sink, offset: query.offset, limit: query.limit)
    try sorter.drain(into: &limited)
    try resolver.check()
    return limited.base
  }
}
