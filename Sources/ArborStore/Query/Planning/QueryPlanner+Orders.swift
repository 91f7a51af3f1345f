internal import ArborModel

extension QueryPlanner {
  /// An index that has the order of the sort keys behind the columns that equalities fix.
  func orderedAccess(_ candidates: AccessCandidates) throws -> OrderedAccess? {
    let wanted = query.sortKeys.compactMap(\.column)
    guard let first = wanted.first, wanted.count == query.sortKeys.count else { return nil }
    var best: OrderedAccess?
    for (position, schema) in scope.entity.indexes.enumerated() where candidates.isReady(position) {
      let index = IndexReference(entity: scope.entity, position: position)
      // Without conditions, the first column has to be the first key.
      guard !conjuncts.isEmpty || first.isOrdered(as: schema.columns[0]),
        let ordered = orderedAccess(index, wanted, candidates), try isWorthScanning(index)
      else { continue }
      if ordered.covered.count == conjuncts.count { return ordered }
      if best.map({ $0.covered.count < ordered.covered.count }) ?? true { best = ordered }
    }
    return best
  }

  /// Whether most entries of an index are of the family: that of an ancestor has the entries of
  /// other entities too, which a scan passes over.
  func isWorthScanning(_ index: IndexReference) throws -> Bool {
    let declaring = scope.schema.entities[index.schema.declaringEntity]
    if declaring.concreteFamily.count == family.count { return true }
    return try counts.entryCount(of: index) / 4 <= counts.objectCount(of: family)
  }

  private func orderedAccess(
    _ reference: IndexReference, _ wanted: [IndexSchema.Column], _ candidates: AccessCandidates
  ) -> OrderedAccess? {
    let index = reference.schema
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
      guard let narrowed = ScanRanges(columns: reference.keyColumns, matches: leading),
        !narrowed.isCut
      else { return nil }
      ranges = narrowed.ranges
      covered.formUnion(leading.prefix(narrowed.usedColumns).flatMap(\.covered))
    }
    return OrderedAccess(
      index: reference, ranges: ranges, isForward: isForward, covered: covered, matches: leading)
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
