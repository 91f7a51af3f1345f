package import ArborModel

extension StoreSnapshot {
  /// Returns the rows that a plan projects from a query's objects, in their order.
  ///
  /// - Parameters:
  ///   - query: The objects and their limit per group. The plan replaces its order, limit and
  ///     offset.
  /// - Returns: The value of each column, for each row.
  /// - Throws: The same errors as ``fetch(_:overlay:allocator:)``.
  package func rows(
    _ query: StoreQuery, _ plan: RowPlan, overlay: (any PendingState)?
  ) throws(StoreError) -> [[PropertyValue]] {
    // If rows are filtered or reordered later, all of them are needed first.
    let isPlain = plan.grouping == nil && plan.order.isEmpty && !plan.isDistinct
    let query = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, sortKeys: plan.sortKeys, groupLimit: query.groupLimit,
      groupNeeds: plan.grouping.flatMap { GroupNeeds($0) },
      limit: isPlain ? plan.limit : 0, offset: isPlain ? plan.offset : 0)
    return try answer(
      query, for: plan.grouping == nil ? .rows : .groups, overlay: overlay, rows: { $0.count }
    ) { executor in
      let environment = predicateEnvironment
      if let grouping = plan.grouping {
        let groups =
          try executor.groupsOfKeys(grouping)
          ?? executor.run(
            into: GroupedRows(grouping, environment, executor.resolver, executor.family)
          ).groups
        try executor.resolver.check()
        return try GroupRows(
          plan: plan, grouping: grouping, entity: query.entity, environment: environment,
          resolver: executor.resolver
        ).rows(of: groups)
      }
      let projected = try executor.run(
        into: ProjectedRows(plan, isPlain: isPlain, environment, executor.resolver))
      try executor.resolver.check()
      return try RowOrdering(plan: plan, environment: environment, limit: limit)
        .rows(of: projected.rows)
    }
  }
}

extension StoreSnapshot {
  /// Calls `body` with each row that a plan projects from a query's objects, in their order, until
  /// `body` returns `false`. Rows that are neither sorted, grouped nor distinct are passed on as
  /// they are read.
  ///
  /// - Throws: The same errors as ``rows(_:_:overlay:)``, possibly after some rows were passed on.
  package func forEachRow(
    _ query: StoreQuery, _ plan: RowPlan, overlay: (any PendingState)?,
    _ body: ([PropertyValue]) -> Bool
  ) throws(StoreError) {
    // A scan along an index may be abandoned for another plan after some rows.
    guard plan.grouping == nil, plan.order.isEmpty, !plan.isDistinct, plan.sortKeys.isEmpty,
      query.groupLimit == nil
    else {
      for row in try rows(query, plan, overlay: overlay) where !body(row) { return }
      return
    }
    let query = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, sortKeys: [], limit: plan.limit, offset: plan.offset)
    try withoutActuallyEscaping(body) { (body) throws(StoreError) in
      _ = try answer(query, for: .rows, overlay: overlay, rows: { $0 }) { executor in
        let rows = try executor.run(
          into: HandedRows(plan, predicateEnvironment, executor.resolver, body))
        try executor.resolver.check()
        return rows.count
      }
    }
  }
}

/// Passes a row for every object to a closure, until it returns `false`.
private struct HandedRows: RowSink {
  private let readers: RowReaders
  private let body: ([PropertyValue]) -> Bool
  private(set) var count = 0

  init(
    _ plan: RowPlan, _ environment: PredicateEnvironment, _ resolver: SnapshotResolver,
    _ body: @escaping ([PropertyValue]) -> Bool
  ) {
    readers = RowReaders(plan.columns, environment, resolver)
    self.body = body
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices {
      let row = rows[index]
      count += 1
      guard body(try readers.values(row.number, row.record, of: entity)) else { return false }
    }
    return true
  }
}

/// Projects a row from every object.
private struct ProjectedRows: RowSink {
  private let readers: RowReaders
  private let columnCount: Int
  /// The rows so far, if duplicates are dropped as they arrive.
  private var seen: Set<DistinctValue>?
  private var toSkip: Int
  private var room: Int
  /// The column values of each row, followed by its sort keys.
  private(set) var rows: [[PropertyValue]] = []

  init(
    _ plan: RowPlan, isPlain: Bool, _ environment: PredicateEnvironment,
    _ resolver: SnapshotResolver
  ) {
    readers = RowReaders(plan.columns + plan.order.map(\.expression), environment, resolver)
    columnCount = plan.columns.count
    let isDistinct = plan.isDistinct && plan.order.isEmpty
    seen = isDistinct ? [] : nil
    toSkip = isDistinct ? plan.offset : 0
    room = isDistinct && plan.limit > 0 ? plan.limit : .max
  }

  var rowsWanted: Int { room == .max ? .max : room + toSkip }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices {
      let row = rows[index]
      try add(readers.values(row.number, row.record, of: entity))
    }
    return room > 0
  }

  private mutating func add(_ values: [PropertyValue]) {
    if seen != nil {
      guard seen?.insert(DistinctValue(.list(values))).inserted == true else { return }
      guard toSkip == 0 else {
        toSkip -= 1
        return
      }
    }
    rows.append(values)
    room -= 1
  }
}

/// Projects rows from groups.
private struct GroupRows {
  let plan: RowPlan
  let grouping: RowPlan.Grouping
  let entity: EntitySchema
  let environment: PredicateEnvironment
  let resolver: SnapshotResolver

  func rows(of groups: [GroupedRows.Group]) throws -> [[PropertyValue]] {
    let expressions = plan.columns + plan.order.map(\.expression)
    var rows: [[PropertyValue]] = []
    var keys: [[PropertyValue]] = []
    for group in groups {
      try resolver.limit.check()
      let arguments = group.keys + group.figures.map(\.value)
      guard try fulfils(arguments) else { continue }
      rows.append(try expressions.map { try value($0, arguments) })
      keys.append(group.keys)
    }
    try resolver.check()
    return try RowOrdering(plan: plan, environment: environment, limit: resolver.limit)
      .rows(of: rows, keys: keys)
  }

  private func fulfils(_ arguments: [PropertyValue]) throws -> Bool {
    guard let having = grouping.having else { return true }
    let predicate = try PredicateCompiler.compile(
      [having.root], arguments: arguments, for: entity, environment: environment)
    return withNoRecord { predicate($0, ObjectNumber(rawValue: 0), resolver) }
  }

  private func value(_ expression: BoundExpression, _ arguments: [PropertyValue]) throws
    -> PropertyValue
  {
    switch expression {
    case .argument(let index): return arguments[index]
    case .constant(let value): return value
    default:
      let read = try PredicateCompiler.reader(
        for: expression, arguments: arguments, of: entity, environment: environment)
      return withNoRecord { read($0, ObjectNumber(rawValue: 0), resolver) }
    }
  }

  /// Calls `body` with a record of default values. The compiled code doesn't read it, because all
  /// of its leaves are arguments.
  private func withNoRecord<R>(_ body: (RecordView) -> R) -> R {
    entity.layout.template.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else {
        stopProgram("The template of an entity's records is empty.")
      }
      return body(RecordView(base: base, count: bytes.count))
    }
  }
}

/// Sorts rows by value, removes duplicates, and applies offset and limit.
private struct RowOrdering {
  let plan: RowPlan
  let environment: PredicateEnvironment
  let limit: WorkLimit

  /// - Parameters:
  ///   - rows: The column values of each row, followed by its sort keys.
  ///   - keys: The keys of each row's group, by which rows with equal sort keys are ordered. Empty
  ///     for the rows of objects, which stay in order.
  func rows(
    of rows: [[PropertyValue]], keys: [[PropertyValue]] = []
  ) throws -> [[PropertyValue]] {
    // The rows are already in the order of the objects, and everything else has been applied.
    if plan.order.isEmpty, plan.grouping == nil { return rows }
    let width = plan.columns.count
    var rows = try sorted(rows, keys).map { Array($0[..<width]) }
    if plan.isDistinct {
      var seen: Set<DistinctValue> = []
      rows.removeAll { !seen.insert(DistinctValue(.list($0))).inserted }
    }
    let rest = rows.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }

  /// Returns the rows in order. The sort is stable.
  private func sorted(
    _ rows: [[PropertyValue]], _ groups: [[PropertyValue]]
  ) throws -> [[PropertyValue]] {
    let width = plan.columns.count
    let groups = groups.map { $0.map(numbered) }
    let keys = rows.map { row in
      zip(plan.order, row[width...]).map { CollatedOrder.prepared(numbered($1), $0.options) }
    }
    let locale = environment.locale
    let sorted = try rows.indices.sorted { left, right in
      try limit.check()
      for (index, key) in plan.order.enumerated() {
        let order = CollatedOrder.compare(
          keys[left][index], keys[right][index], key.options, key.locale ?? locale)
        if order != .equal { return (order == .less) == key.isAscending }
      }
      guard !groups.isEmpty else { return left < right }
      return PropertyValue.compare(.list(groups[left]), .list(groups[right])) == .less
    }
    return sorted.map { rows[$0] }
  }

  /// Replaces objects with their store-wide numbers, by which they are ordered. As values, objects
  /// are ordered by entity name.
  private func numbered(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .list(let values): return .list(values.map(numbered))
    case .objectID(let id):
      guard let number = environment.objectNumber(id) else { return value }
      return .objectID(ObjectID(storeID: id.storeID, entityName: "", number: number.rawValue))
    default: return value
    }
  }
}
