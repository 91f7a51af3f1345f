internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// How many rows a fetch would give, without copying any; from the counts that the store keeps
  /// where they say it all.
  func count() throws -> Int {
    if query.groupLimit != nil { return try answer(RowCounter()).count }
    let total = try countAll()
    let rest = max(0, total - query.offset)
    return query.limit > 0 ? min(rest, query.limit) : rest
  }

  private func countAll() throws -> Int {
    if planner.isNeverTrue { return 0 }
    // Few rows are looked at one by one sooner than all that the context has changed.
    if let stored = try keptCount(least: hasPendingChanges ? overlay?.dirty.count ?? 0 : 0) {
      guard hasPendingChanges else { return stored }
      return stored - (try replacedMatches()) + (try pendingMatches().count)
    }
    let plan = try planner.plan(withoutOrder: true)
    let pending = try pendingMatches().count
    if case .numbers(let list) = plan.access, plan.residual.isEmpty, list.areStored {
      noteUse(of: plan)
      guard let dirty = overlay?.dirty, dirty.count > 0 else { return list.numbers.count + pending }
      return pending
        + list.numbers.reduce(0) { $0 + (dirty.contains(ObjectNumber(rawValue: $1)) ? 0 : 1) }
    }
    var counter = RowCounter()
    try visit(plan, &counter, skipsKnown: false)
    return counter.count + pending
  }

  /// The number of stored objects that fulfil the predicate, where no row need be looked at.
  ///
  /// - Parameter least: Smaller numbers are not wanted, unless there is no predicate.
  private func keptCount(least: Int) throws -> Int? {
    if planner.conjuncts.isEmpty { return try source.count(family) }
    guard let accessPath = planner.exactAccessPath(),
      let count = try CandidateCollector(source: source, family: family).count(accessPath),
      count >= least
    else { return nil }
    noteUse(of: accessPath)
    return count
  }

  /// How many stored objects that the context has changed or deleted fulfil the predicate in their
  /// stored state.
  private func replacedMatches() throws -> Int {
    guard let overlay else { return 0 }
    var numbers: [ObjectNumber] = []
    overlay.dirty.forEach { number, _ in numbers.append(number) }
    var count = 0
    for entity in family {
      let filter = try filter(planner.conjuncts.map(\.node), for: entity)
      let database = source.records(entity)
      for number in numbers where number.entity == entity.number {
        try source.limit.check()
        guard let bytes = try source.reader.get(database, key: number.rawValue) else { continue }
        let record = try verified(bytes, number, entity, entity.layout)
        if filter.accepts(record, number, resolver) { count += 1 }
      }
    }
    try resolver.check()
    return count
  }
}

extension QueryExecutor {
  /// What the rows of a plan cost, in units of ``CostModel``.
  func cost(of plan: AccessPlan) throws -> Int {
    switch plan.access {
    case .nothing, .ordered: 0
    case .scan:
      CostModel.product(
        try source.count(family), CostModel.sum(1, CostModel(source).cost(of: plan.residual)))
    case .numbers(let list):
      plan.residual.isEmpty && list.areStored
        ? 0
        : CostModel.product(
          list.numbers.count,
          CostModel.sum(CostModel.lookup, CostModel(source).cost(of: plan.residual)))
    }
  }

  /// The numbers of all stored objects that a plan finds, ascending.
  func numbers(_ plan: AccessPlan) throws -> [UInt64] {
    if case .numbers(let list) = plan.access, plan.residual.isEmpty, list.areStored {
      return list.numbers
    }
    var sink = NumberSink()
    try visit(plan, &sink, skipsKnown: false)
    return sink.numbers
  }
}

/// Keeps the numbers of rows.
private struct NumberSink: RowSink {
  private(set) var numbers: [UInt64] = []

  @inline(__always)
  mutating func take(_ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema) -> Bool {
    numbers.append(number.rawValue)
    return true
  }
}
