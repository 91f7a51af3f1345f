package import ArborModel

extension StoreSnapshot {
  /// The rows that a plan makes of a query's objects, in their order.
  ///
  /// - Parameter query: Which objects, and how many of each group. Its order, limit and offset are
  ///   replaced by the plan's.
  /// - Returns: A value for each column of each row.
  /// - Throws: As ``fetch(_:overlay:allocator:)``.
  package func rows(
    _ query: StoreQuery, _ plan: RowPlan, overlay: (any PendingState)?
  ) throws(StoreError) -> [[PropertyValue]] {
    // Rows that are left out later, or put in another order, have to be there first.
    let isPlain = plan.grouping == nil && plan.order.isEmpty && !plan.isDistinct
    let query = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, sortKeys: plan.sortKeys, groupLimit: query.groupLimit,
      limit: isPlain ? plan.limit : 0, offset: isPlain ? plan.offset : 0)
    return try answer(query, for: plan.grouping == nil ? .rows : .groups, overlay: overlay) {
      $0.count
    } with: { makeExecutor in
      let executor = try makeExecutor()
      let environment = predicateEnvironment
      if let grouping = plan.grouping {
        let groups = try executor.run(into: GroupedRows(grouping, environment, executor.resolver))
          .groups
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
  /// Hands on the rows that a plan makes of a query's objects, in their order. Rows that are
  /// neither sorted nor grouped nor distinct are handed on as they are read.
  ///
  /// - Throws: As ``rows(_:_:overlay:)``, after some rows were handed on.
  package func forEachRow(
    _ query: StoreQuery, _ plan: RowPlan, overlay: (any PendingState)?,
    _ body: ([PropertyValue]) -> Void
  ) throws(StoreError) {
    // A scan along an index may be given up for another plan after some rows.
    guard plan.grouping == nil, plan.order.isEmpty, !plan.isDistinct, plan.sortKeys.isEmpty,
      query.groupLimit == nil
    else {
      return try rows(query, plan, overlay: overlay).forEach(body)
    }
    let query = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate, sortKeys: [], limit: plan.limit, offset: plan.offset)
    try withoutActuallyEscaping(body) { (body) throws(StoreError) in
      _ = try answer(query, for: .rows, overlay: overlay) {
        $0
      } with: { makeExecutor in
        let executor = try makeExecutor()
        let rows = try executor.run(
          into: HandedRows(plan, predicateEnvironment, executor.resolver, body))
        try executor.resolver.check()
        return rows.count
      }
    }
  }
}

/// Hands on a row of every object.
private struct HandedRows: RowSink {
  private let readers: RowReaders
  private let body: ([PropertyValue]) -> Void
  private(set) var count = 0

  init(
    _ plan: RowPlan, _ environment: PredicateEnvironment, _ resolver: SnapshotResolver,
    _ body: @escaping ([PropertyValue]) -> Void
  ) {
    readers = RowReaders(plan.columns, environment, resolver)
    self.body = body
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices {
      let row = rows[index]
      count += 1
      body(try readers.values(row.number, row.record, of: entity))
    }
    return true
  }
}

/// Makes a row of every object.
private struct ProjectedRows: RowSink {
  private let readers: RowReaders
  private let columnCount: Int
  /// Which rows there have been, where equal ones are left out as they come.
  private var seen: Set<DistinctValue>?
  private var toSkip: Int
  private var room: Int
  /// The values of each row's columns, then what it is ordered by.
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

/// The objects of a query in groups, by what they agree in.
private struct GroupedRows: RowSink {
  struct Group {
    let keys: [PropertyValue]
    var figures: [GroupFigure]
  }

  private let readers: RowReaders
  private let keyCount: Int
  private let aggregates: [RowPlan.GroupAggregate]
  /// By the hash of keys the newest group that has it.
  private var newest: [Int: Int] = [:]
  /// For each group the one before it whose keys have the same hash; -1 for none.
  private var former: [Int] = []
  /// In the order of their first objects.
  private(set) var groups: [Group] = []

  init(
    _ grouping: RowPlan.Grouping, _ environment: PredicateEnvironment, _ resolver: SnapshotResolver
  ) {
    readers = RowReaders(
      grouping.keys + grouping.aggregates.compactMap(\.expression), environment, resolver)
    keyCount = grouping.keys.count
    aggregates = grouping.aggregates
    // Without a key all objects are one group, even where none exist.
    if keyCount == 0 { groups = [Group(keys: [], figures: aggregates.map(GroupFigure.init))] }
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices {
      let row = rows[index]
      add(try readers.values(row.number, row.record, of: entity))
    }
    return true
  }

  private mutating func add(_ values: [PropertyValue]) {
    let groupIndex = keyCount == 0 ? 0 : groupIndex(of: values[..<keyCount])
    var next = keyCount
    for (index, aggregate) in aggregates.enumerated() {
      if aggregate.expression == nil {
        groups[groupIndex].figures[index].add(nil)
      } else {
        groups[groupIndex].figures[index].add(values[next])
        next += 1
      }
    }
  }

  private mutating func groupIndex(of keys: ArraySlice<PropertyValue>) -> Int {
    let hash = DistinctValue.hash(of: keys)
    let last = newest[hash] ?? -1
    var index = last
    while index >= 0 {
      let known = groups[index].keys
      if keys.indices.allSatisfy({ PropertyValue.compare(known[$0], keys[$0]) == .equal }) {
        return index
      }
      index = former[index]
    }
    newest[hash] = groups.count
    former.append(last)
    groups.append(Group(keys: Array(keys), figures: aggregates.map(GroupFigure.init)))
    return groups.count - 1
  }
}

/// Makes rows of groups.
private struct GroupRows {
  let plan: RowPlan
  let grouping: RowPlan.Grouping
  let entity: EntitySchema
  let environment: PredicateEnvironment
  let resolver: SnapshotResolver

  func rows(of groups: [GroupedRows.Group]) throws -> [[PropertyValue]] {
    let expressions = plan.columns + plan.order.map(\.expression)
    var rows: [[PropertyValue]] = []
    for group in groups {
      try resolver.limit.check()
      let arguments = group.keys + group.figures.map(\.value)
      guard try fulfils(arguments) else { continue }
      rows.append(try expressions.map { try value($0, arguments) })
    }
    try resolver.check()
    return try RowOrdering(plan: plan, environment: environment, limit: resolver.limit)
      .rows(of: rows)
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

  /// Runs code that reads no record, since all its leaves are arguments, on one of default values.
  private func withNoRecord<R>(_ body: (RecordView) -> R) -> R {
    entity.layout.template.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else {
        stopProgram("The template of an entity's records is empty.")
      }
      return body(RecordView(base: base, count: bytes.count))
    }
  }
}

/// Puts rows in order by values, leaves out equal ones, and keeps those that are wanted.
private struct RowOrdering {
  let plan: RowPlan
  let environment: PredicateEnvironment
  let limit: WorkLimit

  /// - Parameter rows: The values of each row's columns, then what it is ordered by.
  func rows(of rows: [[PropertyValue]]) throws -> [[PropertyValue]] {
    // The order of the objects is kept, and what depends on nothing else was done with it.
    if plan.order.isEmpty, plan.grouping == nil { return rows }
    let width = plan.columns.count
    var rows = rows
    if !plan.order.isEmpty { rows = try sorted(rows).map { Array($0[..<width]) } }
    if plan.isDistinct {
      var seen: Set<DistinctValue> = []
      rows.removeAll { !seen.insert(DistinctValue(.list($0))).inserted }
    }
    let rest = rows.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }

  /// Rows that agree in all keys stay in their order.
  private func sorted(_ rows: [[PropertyValue]]) throws -> [[PropertyValue]] {
    let width = plan.columns.count
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
      return left < right
    }
    return sorted.map { rows[$0] }
  }
  /// A value with its objects under their numbers throughout the store, by which objects are
  /// ordered; as values they lie by the names of their entities.
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
