internal import ArborModel
internal import LMDB

/// Chooses the access path to a query's rows, by exact counts.
///
/// Looking a record up by its number costs several times what a row of a scan costs, so access
/// paths that find more than a sixteenth of all rows lose to the scan, as a rule. Counting and
/// gathering the numbers of an access path is one walk, ended as soon as that is certain.
struct QueryPlanner {
  let scope: PlanScope
  let query: StoreQuery
  let conjunction: Conjunction

  var source: QuerySource { scope.source }
  var conjuncts: [Conjunct] { conjunction.conjuncts }
  var family: [EntitySchema] { scope.family }

  /// Decides. `withoutOrder` leaves out the walks that may be given up.
  func plan(withoutOrder: Bool = false) throws -> AccessPlan {
    if isNeverTrue { return AccessPlan(access: .nothing, residual: []) }
    let candidates = AccessCandidates(conjuncts, of: scope)
    let isEarlyEnd = !withoutOrder && query.rowsNeeded != nil && query.groupLimit == nil
    let ordered = isEarlyEnd ? try orderedAccess(candidates) : nil
    if let ordered, ordered.covered.count == conjuncts.count {
      return AccessPlan(access: .ordered(ordered), residual: [])
    }
    let scanCost =
      conjuncts.isEmpty
      ? 0 : AccessPathSelection.scanCost(conjunction, rows: try source.count(family), source)
    var best: CandidateNumbers?
    if !conjuncts.isEmpty {
      var selection = AccessPathSelection(conjunction, candidates, scope, cost: scanCost)
      best = try selection.select()
    }
    if let ordered, let needed = query.rowsNeeded {
      let rows = best?.numbers.count ?? scanCost / CostModel.lookup
      // Few rows are sorted sooner than a longer walk finds those that pass the other conditions.
      if rows / 4 > needed {
        return AccessPlan(
          access: .ordered(ordered.limited(to: rows)), residual: nodes(covered: ordered.covered))
      }
    }
    guard let best else { return AccessPlan(access: .scan, residual: nodes(covered: [])) }
    return AccessPlan(access: .numbers(best), residual: nodes(covered: best.covered))
  }

  /// A walk that meets the rows in the order asked for, wherever it begins, and keeps none: along
  /// an index, or without sort keys by number. nil where the rows have to be sorted.
  func walk() throws -> AccessPlan? {
    if isNeverTrue { return AccessPlan(access: .nothing, residual: []) }
    if query.sortKeys.isEmpty { return AccessPlan(access: .scan, residual: nodes(covered: [])) }
    guard query.groupLimit == nil,
      let ordered = try orderedAccess(AccessCandidates(conjuncts, of: scope))
    else { return nil }
    return AccessPlan(access: .ordered(ordered), residual: nodes(covered: ordered.covered))
  }

  /// A plan that lists the rows' numbers, where an index finds few of them or they can not be met
  /// in order; nil where ``walk()`` is better.
  ///
  /// - Parameter most: How many rows are few.
  func listing(atMost most: Int) throws -> AccessPlan? {
    if isNeverTrue { return AccessPlan(access: .nothing, residual: []) }
    if !conjuncts.isEmpty {
      let rows = try source.count(family)
      let cost = min(
        AccessPathSelection.scanCost(conjunction, rows: rows, source), most * CostModel.lookup)
      var selection = AccessPathSelection(
        conjunction, AccessCandidates(conjuncts, of: scope), scope, cost: cost)
      // Objects that the predicate names are listed in it.
      if let few = try selection.select(), few.numbers.count <= most || !few.areStored {
        return AccessPlan(access: .numbers(few), residual: nodes(covered: few.covered))
      }
    }
    return try walk() == nil ? plan(withoutOrder: true) : nil
  }

  /// The access path that alone says all that the predicate says, so that its counts are the
  /// answer.
  func exactAccessPath() -> AccessCandidate? {
    let candidates = AccessCandidates(conjuncts, of: scope)
    for option in candidates.all() {
      if let accessPath = candidates.candidate(option),
        Set(accessPath.covered).count == conjuncts.count
      {
        return accessPath
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

  private func nodes(covered: Set<Int>) -> [BoundNode] {
    conjuncts.indices.filter { !covered.contains($0) }.map { conjuncts[$0].node }
  }

  /// An index that has the order of the sort keys behind the columns that equalities fix.
  private func orderedAccess(_ candidates: AccessCandidates) throws -> OrderedAccess? {
    let wanted = query.sortKeys.compactMap(\.column)
    guard let first = wanted.first, wanted.count == query.sortKeys.count else { return nil }
    var best: OrderedAccess?
    for place in query.entity.indexes.indices {
      // Without conditions, the first column has to be the first key.
      guard !conjuncts.isEmpty || first.isOrdered(as: query.entity.indexes[place].columns[0]),
        candidates.isReady(place)
      else { continue }
      let index = query.entity.indexes[place]
      guard
        let ordered = orderedAccess(index, place, wanted, candidates),
        try isWorthWalking(index, ordered.database)
      else { continue }
      if ordered.covered.count == conjuncts.count { return ordered }
      if best.map({ $0.covered.count < ordered.covered.count }) ?? true { best = ordered }
    }
    return best
  }

  /// Whether most entries of an index are of the family: that of an ancestor has the entries of
  /// other entities too, which a walk passes over.
  func isWorthWalking(_ index: IndexSchema, _ database: Database) throws -> Bool {
    if source.schema.entities[index.declaringEntity].concreteFamily.count == family.count {
      return true
    }
    return try source.reader.entryCount(database) / 4 <= source.count(family)
  }

  private func orderedAccess(
    _ index: IndexSchema, _ place: Int, _ wanted: [IndexSchema.Column],
    _ candidates: AccessCandidates
  ) -> OrderedAccess? {
    guard !index.isText else { return nil }
    let leading = candidates.leadingMatches(of: index)
    let fixedCount = leading.fixedCount
    // The order of a column that has one value decides nothing.
    let keys =
      fixedCount == 0
      ? wanted
      : wanted.filter { key in
        !index.columns.prefix(fixedCount).contains { key.isOrdered(as: $0) }
      }
    let columns = index.columns.dropFirst(fixedCount)
    guard columns.count == keys.count, let column = columns.first, let key = keys.first else {
      return nil
    }
    let isForward = column.isAscending == key.isAscending
    for (column, key) in zip(columns, keys) {
      guard key.isOrdered(as: column), (column.isAscending == key.isAscending) == isForward else {
        return nil
      }
    }
    // A row that has no entry is not met on the way.
    guard let implied = candidates.implied(by: index) else { return nil }
    var ranges = ScanRange.whole
    var covered = Set(implied)
    if !leading.isEmpty {
      guard
        let narrowed = ScanRanges(columns: query.entity.keyColumns(of: index), matches: leading),
        !narrowed.isCut
      else { return nil }
      ranges = narrowed.ranges
      covered.formUnion(leading.prefix(narrowed.usedColumns).flatMap(\.covered))
    }
    let number = candidates.storeIndexNumber(place)
    return OrderedAccess(
      index: index, place: number, database: source.store.databases.indexes[number].database,
      ranges: ranges, isForward: isForward, budget: .max, covered: covered, matches: leading)
  }
}

extension [ColumnMatch] {
  /// How many columns at the beginning have one value each.
  var fixedCount: Int {
    prefix { match in
      if case .points(let values) = match.condition { values.count == 1 } else { false }
    }.count
  }
}

extension IndexSchema.Column {
  /// Whether the column orders as another one does, or the other way round.
  fileprivate func isOrdered(as other: Self) -> Bool {
    source == other.source && kind == other.kind
  }
}

extension BoundSortKey {
  /// Whether the key is about what an index column is about.
  func isRead(from source: IndexSchema.Column.Source) -> Bool {
    guard let path, path.hops.isEmpty else { return false }
    switch (path.leaf, source) {
    case (.attribute(let attribute), .attribute(let slot)): return attribute.slot == slot
    case (.toOne(let relationship), .toOne(let slot)): return relationship.slot == slot
    default: return false
    }
  }
}
