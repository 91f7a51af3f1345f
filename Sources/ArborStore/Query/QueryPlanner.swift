internal import ArborModel
internal import LMDB

/// Chooses one way to a query's rows, by exact counts.
///
/// Looking a record up by its number costs several times what a row of a scan costs, so a way that
/// finds more than a sixteenth of all rows loses to the scan. Counting and gathering the numbers of
/// a way is one walk, ended as soon as that is certain.
struct QueryPlanner {
  /// A scan's rows cost a sixteenth of those that are looked up one by one.
  private static let scanAdvantage = 16
  /// Up to so many rows a way is always better than a scan.
  private static let fewRows = 16
  /// A way that finds no more is taken without looking at others.
  private static let hardlyAny = 8

  let source: QuerySource
  let query: StoreQuery
  let conjuncts: [Conjunct]
  let family: [EntitySchema]

  /// Decides. `withoutOrder` leaves out the walks that may be given up.
  func plan(withoutOrder: Bool = false) throws -> AccessPlan {
    if isNeverTrue { return AccessPlan(access: .nothing, residual: []) }
    let candidates = AccessCandidates(conjuncts, of: query.entity, in: source.store)
    let ordered = withoutOrder ? nil : orderedAccess(candidates)
    if let ordered, ordered.served.count == conjuncts.count {
      return AccessPlan(access: .ordered(ordered), residual: [])
    }
    let ways = candidates.all()
    if ways.isEmpty, ordered == nil {
      return AccessPlan(access: .scan, residual: nodes(served: []))
    }
    let threshold = max(try source.count(family) / Self.scanAdvantage, Self.fewRows)
    let best = try best(of: ways, candidates, threshold)
    if let ordered, let needed = query.rowsNeeded {
      let rows = best?.numbers.count ?? threshold
      // Few rows are sorted sooner than a longer walk finds those that pass the other conditions.
      if rows / 4 > needed {
        return AccessPlan(
          access: .ordered(ordered.limited(to: rows)), residual: nodes(served: ordered.served))
      }
    }
    guard let best else { return AccessPlan(access: .scan, residual: nodes(served: [])) }
    return AccessPlan(
      access: .numbers(best.numbers, best.candidate),
      residual: nodes(served: best.candidate.served))
  }

  /// The way that alone says all that the predicate says, so that its counts are the answer.
  func exactWay() -> AccessCandidate? {
    let candidates = AccessCandidates(conjuncts, of: query.entity, in: source.store)
    for option in candidates.all() {
      if let way = candidates.candidate(option), Set(way.served).count == conjuncts.count {
        return way
      }
    }
    return nil
  }

  /// Whether a conjunct is false whatever the row.
  var isNeverTrue: Bool {
    conjuncts.contains { conjunct in
      if case .constant(false) = conjunct.node { true } else { false }
    }
  }

  private func nodes(served: [Int]) -> [BoundNode] {
    conjuncts.indices.filter { !served.contains($0) }.map { conjuncts[$0].node }
  }

  private func best(
    of options: [AccessOption], _ candidates: AccessCandidates, _ threshold: Int
  ) throws -> (candidate: AccessCandidate, numbers: [UInt64])? {
    let collector = NumberCollector(source: source, family: family)
    var best: (candidate: AccessCandidate, numbers: [UInt64])?
    for option in options {
      guard let way = candidates.candidate(option) else { continue }
      let most: Int
      switch way.way {
      // An object that is named is looked up; there is nothing to count.
      case .objects: most = .max
      case .index, .members:
        most = best.map { $0.numbers.count - 1 } ?? threshold
        guard way.lookups <= max(most, Self.fewRows) else { continue }
      }
      guard let numbers = try collector.collect(way, atMost: most) else { continue }
      best = (way, numbers)
      if numbers.count <= Self.hardlyAny { break }
    }
    return best
  }

  /// An index that has the order of the sort keys behind the columns that equalities fix.
  private func orderedAccess(_ candidates: AccessCandidates) -> OrderedAccess? {
    guard query.rowsNeeded != nil, !query.sortKeys.isEmpty else { return nil }
    for (place, index) in query.entity.indexes.enumerated() where index.isPlain {
      // An index of an ancestor has the entries of other entities too.
      guard source.schema.entities[index.declaringEntity].concreteFamily.count == family.count
      else { continue }
      if let ordered = orderedAccess(index, candidates, candidates.database(place)) {
        return ordered
      }
    }
    return nil
  }

  private func orderedAccess(
    _ index: IndexSchema, _ candidates: AccessCandidates, _ database: Database
  ) -> OrderedAccess? {
    let leading = candidates.leadingMatches(of: index)
    let fixed = leading.prefix { match in
      if case .points(let values) = match.condition { values.count == 1 } else { false }
    }
    // The order of a column that has one value decides nothing.
    let keys = query.sortKeys.filter { key in
      !index.columns.prefix(fixed.count).contains { key.isPlain(over: $0.source) }
    }
    let columns = index.columns.dropFirst(fixed.count)
    guard columns.count == keys.count, let column = columns.first, let key = keys.first else {
      return nil
    }
    let isForward = column.isAscending == key.isAscending
    for (column, key) in zip(columns, keys) {
      guard key.isPlain(over: column.source),
        (column.isAscending == key.isAscending) == isForward
      else { return nil }
    }
    guard !leading.isEmpty else {
      return OrderedAccess(
        index: index, database: database, ranges: [ScanRange(lower: [0], upper: nil)],
        isForward: isForward, budget: .max, served: [], isNarrowed: false)
    }
    guard
      let ranges = ScanRanges(columns: query.entity.keyColumns(of: index), matches: leading),
      !ranges.isCut
    else { return nil }
    return OrderedAccess(
      index: index, database: database, ranges: ranges.ranges, isForward: isForward,
      budget: .max, served: Array(Set(leading.prefix(ranges.usedColumns).flatMap(\.served))),
      isNarrowed: true)
  }
}

extension OrderedAccess {
  fileprivate func limited(to budget: Int) -> OrderedAccess {
    OrderedAccess(
      index: index, database: database, ranges: ranges, isForward: isForward, budget: budget,
      served: served, isNarrowed: isNarrowed)
  }
}

extension BoundSortKey {
  /// Whether the key orders by an index column's property as the index does.
  func isPlain(over source: IndexSchema.Column.Source) -> Bool {
    guard path.hops.isEmpty, options.isEmpty else { return false }
    switch (path.leaf, source) {
    case (.attribute(let attribute), .attribute(let slot)): return attribute.slot == slot
    case (.toOne(let relationship), .toOne(let slot)): return relationship.slot == slot
    default: return false
    }
  }
}
