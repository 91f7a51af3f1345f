internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// Returns the number of rows that a fetch would return, without copying any. Uses the counts
  /// that the store maintains if they are sufficient.
  func count() throws -> Int {
    if query.groupLimit != nil { return try run(into: RowCounter()).count }
    let total = try countAll()
    let rest = max(0, total - query.offset)
    return query.limit > 0 ? min(rest, query.limit) : rest
  }

  private func countAll() throws -> Int {
    if planner.isNeverTrue { return 0 }
    // Testing a few rows one by one is faster than testing every object that the context has
    // changed.
    if let stored = try keptCount(least: hasPendingChanges ? overlay?.dirty.count ?? 0 : 0) {
      guard hasPendingChanges else { return stored }
      return stored - (try replacedMatches()) + (try pendingMatches().count)
    }
    let plan = try plan(withoutOrder: true)
    let pending = try pendingMatches().count
    if plan.isListed, case .numbers(let list) = plan.access {
      let (list, numbers) = try gathered(list)
      note(AccessPlan(access: .numbers(list), residual: []))
      guard let dirty = overlay?.dirty, dirty.count > 0 else { return numbers.count + pending }
      return pending + numbers.count { !dirty.contains(ObjectNumber(rawValue: $0)) }
    }
    var rows = RowDelivery(to: RowCounter())
    try visit(plan, &rows)
    return rows.sink(as: RowCounter.self).count + pending
  }

  /// Returns the number of stored objects that satisfy the predicate, or `nil` if rows have to be
  /// read to determine it. A count below `least` is not used, unless there is no predicate.
  private func keptCount(least: Int) throws -> Int? {
    if planner.conjuncts.isEmpty {
      let rows = try planner.counts.objectCount(of: family)
      ran = .rows(AccessPlan(access: .scan(rows: rows), residual: []))
      return rows
    }
    guard let candidate = planner.exactAccessPath(),
      let count = try planner.counts.exactCount(of: candidate, family), count >= least
    else { return nil }
    ran = .counts(candidate, count)
    noteUse(of: candidate)
    return count
  }

  /// Returns the number of changed or deleted objects whose stored state satisfies the predicate.
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
