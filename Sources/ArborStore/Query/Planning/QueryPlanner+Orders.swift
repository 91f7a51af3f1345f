internal import ArborModel

extension QueryPlanner {
  /// Returns a scan along an index that is in the order of the sort keys after the columns that
  /// equalities fix, or `nil` if no index qualifies.
  func orderedAccess(_ candidates: AccessCandidates) throws -> OrderedAccess? {
    let wanted = query.sortKeys.compactMap(\.column)
    guard let first = wanted.first, wanted.count == query.sortKeys.count else { return nil }
    var best: OrderedAccess?
    for (position, schema) in scope.entity.indexes.enumerated() where candidates.isReady(position) {
      let index = IndexReference(entity: scope.entity, position: position)
      // Without conditions, the first column must be the first sort key.
      guard !conjuncts.isEmpty || first.isOrdered(as: schema.columns[0]),
        let ordered = orderedAccess(index, wanted, candidates), try isWorthScanning(index)
      else { continue }
      if ordered.covered.count == conjuncts.count { return ordered }
      if best.map({ $0.covered.count < ordered.covered.count }) ?? true { best = ordered }
    }
    return best
  }

  /// Returns whether enough of an index's entries belong to the family. An inherited index also has
  /// entries of other entities, which a scan has to skip.
  func isWorthScanning(_ index: IndexReference) throws -> Bool {
    let declaring = scope.schema.entities[index.schema.declaringEntity]
    if declaring.concreteFamily.count == family.count { return true }
    return try counts.entryCount(of: index) / 4 <= counts.objectCount(of: family)
  }

  private func orderedAccess(
    _ reference: IndexReference, _ wanted: [IndexSchema.Column], _ candidates: AccessCandidates
  ) -> OrderedAccess? {
    let index = reference.schema
    guard !index.hasManyKeys else { return nil }
    let leading = candidates.leadingMatches(of: index)
    let fixedCount = leading.fixedCount
    // Columns with a single value don't affect the order.
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
    guard let part = part(of: reference, narrowedBy: leading, candidates) else { return nil }
    return OrderedAccess(
      index: reference, ranges: part.ranges, isForward: isForward, covered: part.covered,
      matches: leading)
  }

  /// Returns the ranges of an index that conditions on its leading columns select, and the conjuncts
  /// that hold for all entries in them. Returns `nil` if the index may lack rows of the query, or if
  /// its keys don't decide a condition.
  func part(
    of reference: IndexReference, narrowedBy matches: [ColumnMatch], _ candidates: AccessCandidates
  ) -> (ranges: [ScanRange], covered: Set<Int>)? {
    guard let implied = candidates.implied(by: reference.schema) else { return nil }
    guard !matches.isEmpty else { return (ScanRange.whole, Set(implied)) }
    guard let narrowed = ScanRanges(columns: reference.keyColumns, matches: matches),
      !narrowed.isCut
    else { return nil }
    let covered = matches.prefix(narrowed.usedColumns).flatMap(\.covered)
    return (narrowed.ranges, Set(implied + covered))
  }
}

extension [ColumnMatch] {
  /// The number of leading columns that are fixed to a single value.
  var fixedCount: Int {
    prefix { match in
      if case .points(let values) = match.condition { values.count == 1 } else { false }
    }.count
  }
}

extension IndexSchema.Column {
  /// Returns whether the column has the same order as another one, or its reverse.
  fileprivate func isOrdered(as other: Self) -> Bool {
    source == other.source && kind == other.kind
  }
}

extension BoundSortKey {
  /// Returns whether the sort key reads the same property as an index column.
  func isRead(from source: IndexSchema.Column.Source) -> Bool {
    if case .part = source { return column?.source == source }
    guard let path, path.hops.isEmpty else { return false }
    switch (path.leaf, source) {
    case (.attribute(let attribute), .attribute(let slot)): return attribute.slot == slot
    case (.toOne(let relationship), .toOne(let slot)): return relationship.slot == slot
    default: return false
    }
  }
}
