internal import ArborModel
internal import LMDB

/// Answers one query on one transaction: takes rows the way the planner chose, judges them, lays
/// the context's pending state over them, orders them and copies those that are wanted.
///
/// Nothing that points into the map leaves it.
final class QueryExecutor {
  let source: QuerySource
  let query: StoreQuery
  let overlay: FetchOverlay?
  let resolver: SnapshotResolver
  let planner: QueryPlanner
  private let environment: PredicateEnvironment?
  /// Keeps what upgraded records lie in until the query has been answered.
  private let upgrades = UpgradedRecords()

  /// - Parameter environment: That of the query this one is a part of; nil for a query of its own.
  init(
    _ source: QuerySource, _ query: StoreQuery, overlay: FetchOverlay?,
    environment: PredicateEnvironment? = nil
  ) throws {
    self.source = source
    self.query = query
    self.overlay = overlay.flatMap { $0.hasPendingChanges || $0.known != nil ? $0 : nil }
    resolver = SnapshotResolver(source, overlay: self.overlay)
    var conjunction = Conjunction(conjuncts: [])
    if let predicate = query.predicate {
      let environment =
        environment ?? PredicateEnvironment(schema: source.schema, storeID: source.store.id)
      conjunction = try predicate.bound.conjunction(
        arguments: predicate.arguments, environment: environment)
      self.environment = environment
    } else {
      self.environment = nil
    }
    planner = QueryPlanner(
      scope: PlanScope(
        source: source, entity: query.entity, family: source.family(query),
        arguments: query.predicate?.arguments ?? [], environment: self.environment,
        overlay: self.overlay),
      query: query, conjunction: conjunction)
  }

  var family: [EntitySchema] { planner.family }

  var hasPendingChanges: Bool { overlay?.hasPendingChanges ?? false }

  // MARK: Fetching

  func fetch(_ allocator: SlabAllocator) throws -> FetchedRecords {
    let plan = try planner.plan()
    let pending = try pendingMatches()
    if query.sortKeys.isEmpty { return try fetchByNumber(plan, pending, allocator) }
    let columns = SortColumns(query.sortKeys, schema: source.schema, resolver: resolver)
    if let order = ByteOrder(query.sortKeys, columns: columns) {
      return try fetchSorted(plan, pending, order, allocator)
    }
    return try fetchSorted(
      plan, pending, CollatedOrder(query.sortKeys, columns: columns), allocator)
  }

  private func fetchByNumber(
    _ plan: AccessPlan, _ pending: [PendingRow], _ allocator: SlabAllocator
  ) throws -> FetchedRecords {
    guard !pending.isEmpty else {
      var collector = collector(allocator, expected: try certainRows(plan))
      try visit(plan, &collector, skipsKnown: true)
      return collector.result
    }
    // Pending rows lie between stored ones: the offset is counted once both are there.
    var collector = RowCollector(
      allocator, known: overlay?.known, offset: 0, limit: query.rowsNeeded)
    try visit(plan, &collector, skipsKnown: true)
    var result = collector.result
    result.rows += pending.map { FetchedRow(known: $0.number) }
    result.rows.sort { $0.number < $1.number }
    if let needed = query.rowsNeeded, needed < result.rows.count {
      result.rows.removeLast(result.rows.count - needed)
    }
    result.rows.removeFirst(min(query.offset, result.rows.count))
    return result
  }

  private func fetchSorted<Order: RowOrder>(
    _ plan: AccessPlan, _ pending: [PendingRow], _ order: Order, _ allocator: SlabAllocator
  ) throws -> FetchedRecords {
    var plan = plan
    var sorter = RowSorter(order, most: query.rowsNeeded)
    if case .ordered(let walk) = plan.access {
      if pending.isEmpty {
        var collector = collector(allocator)
        if try visit(walk, plan.residual, &collector) { return collector.result }
      } else {
        // The first rows of the store and the pending ones hold the first rows of both.
        var first = FirstRows(sorter, most: query.rowsNeeded)
        if try visit(walk, plan.residual, &first) {
          return try drain(&first.base, pending, allocator)
        }
        sorter = RowSorter(order, most: query.rowsNeeded)
      }
      plan = try planner.plan(withoutOrder: true)
    }
    try visit(plan, &sorter, skipsKnown: false)
    return try drain(&sorter, pending, allocator)
  }

  private func drain<Order: RowOrder>(
    _ sorter: inout RowSorter<Order>, _ pending: [PendingRow], _ allocator: SlabAllocator
  ) throws -> FetchedRecords {
    for row in pending {
      _ = try sorter.take(row.number, .pending(row.record), of: row.entity)
    }
    try resolver.check()
    var collector = collector(allocator)
    sorter.drain(into: &collector)
    return collector.result
  }

  private func collector(_ allocator: SlabAllocator, expected: Int = 0) -> RowCollector {
    RowCollector(
      allocator, known: overlay?.known, offset: query.offset,
      limit: query.limit > 0 ? query.limit : nil, expected: expected)
  }

  /// How many stored rows a plan gives, where none has to be asked first; else 0.
  private func certainRows(_ plan: AccessPlan) throws -> Int {
    guard plan.residual.isEmpty else { return 0 }
    switch plan.access {
    case .nothing, .ordered: return 0
    case .scan: return try source.count(family)
    case .numbers(let list): return list.numbers.count
    }
  }

  // MARK: Conditions

  /// The judge of one entity's records by some conditions of the query's predicate.
  func filter(_ nodes: [BoundNode], for entity: EntitySchema) throws -> RowFilter {
    guard let environment, let predicate = query.predicate, !nodes.isEmpty else {
      return RowFilter(entity: entity, predicate: nil)
    }
    return RowFilter(
      entity: entity,
      predicate: try PredicateCompiler.compile(
        nodes, arguments: predicate.arguments, for: entity, environment: environment))
  }

  struct PendingRow {
    let number: ObjectNumber
    let record: RecordView
    let entity: EntitySchema
  }

  /// The context's inserted and changed objects that fulfil the predicate.
  func pendingMatches() throws -> [PendingRow] {
    guard let overlay, overlay.hasPendingChanges, !planner.isNeverTrue else { return [] }
    var matches: [PendingRow] = []
    for entity in family {
      let rows = overlay.pendingRows(entity)
      guard !rows.isEmpty else { continue }
      let filter = try filter(planner.conjuncts.map(\.node), for: entity)
      for (number, record) in rows where filter.accepts(record, number, resolver) {
        matches.append(PendingRow(number: number, record: record, entity: entity))
      }
    }
    try resolver.check()
    return matches
  }

  /// A stored record, checked and in the newest layout.
  @inline(__always)
  func verified(
    _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema,
    _ layout: RecordLayout
  ) throws -> RecordView {
    if let base = bytes.baseAddress {
      let record = RecordView(base: base, count: bytes.count)
      if record.verify(layout, key: number) == nil { return record }
    }
    return try upgrades.upgrade(bytes, number, entity, source.store.layouts)
  }
}

/// Passes on the first rows and then wants no more.
private struct FirstRows<Base: RowSink>: RowSink {
  var base: Base
  private var room: Int

  init(_ base: Base, most: Int?) {
    self.base = base
    room = most ?? .max
  }

  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) throws -> Bool {
    room -= 1
    return try base.take(number, row, of: entity) && room > 0
  }
}
