internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// How many rows a fetch would give, without copying any; from the counts that the store keeps
  /// where they say it all.
  func count() throws -> Int {
    let total = try countAll()
    let rest = max(0, total - query.offset)
    return query.limit > 0 ? min(rest, query.limit) : rest
  }

  private func countAll() throws -> Int {
    if planner.isNeverTrue { return 0 }
    if let stored = try keptCount() {
      guard hasPendingChanges else { return stored }
      return stored - (try replacedMatches()) + (try pendingMatches().count)
    }
    let plan = try planner.plan(withoutOrder: true)
    let pending = try pendingMatches().count
    if case .numbers(let numbers, let candidate) = plan.access, plan.residual.isEmpty,
      candidate.namesStoredObjects
    {
      guard let dirty = overlay?.dirty, dirty.count > 0 else { return numbers.count + pending }
      return pending
        + numbers.reduce(0) { $0 + (dirty.contains(ObjectNumber(rawValue: $1)) ? 0 : 1) }
    }
    var counter = RowCounter()
    try visit(plan, &counter, skipsKnown: false)
    return counter.count + pending
  }

  /// The number of stored objects that fulfil the predicate, where no row need be looked at.
  private func keptCount() throws -> Int? {
    if planner.conjuncts.isEmpty { return try source.count(family) }
    guard let way = planner.exactWay() else { return nil }
    return try NumberCollector(source: source, family: family).count(way)
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
        guard let bytes = try source.reader.get(database, key: number.rawValue) else { continue }
        let record = try verified(bytes, number, entity, entity.layout)
        if filter.accepts(record, number, resolver) { count += 1 }
      }
    }
    try resolver.check()
    return count
  }
}
