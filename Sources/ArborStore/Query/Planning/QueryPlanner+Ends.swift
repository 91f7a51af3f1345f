internal import ArborModel

extension QueryPlanner {
  /// Returns, for each aggregate, the scan whose first row has its value, or `nil` if one of the
  /// aggregates has no such scan.
  func ends(for aggregates: [BoundAggregate]) throws -> [OrderedAccess]? {
    guard query.limit == 0, query.offset == 0, query.groupLimit == nil else { return nil }
    var ends: [OrderedAccess] = []
    for aggregate in aggregates {
      guard let end = try end(for: aggregate) else { return nil }
      ends.append(end)
    }
    return ends.isEmpty ? nil : ends
  }

  /// Returns a scan along an index that starts at the minimum or maximum and finds only rows of the
  /// query. Returns `nil` for other aggregates or if no index qualifies.
  private func end(for aggregate: BoundAggregate) throws -> OrderedAccess? {
    let isLeast = aggregate.function == .minimum
    guard isLeast || aggregate.function == .maximum, case .path(let path) = aggregate.source,
      path.hops.isEmpty, case .attribute(let attribute) = path.leaf, !isNeverTrue
    else { return nil }
    let candidates = candidates(conjuncts)
    // Short keys first, because truncated ones cannot be used.
    for index in candidates.shortestIndexes {
      if let end = end(of: attribute, isLeast: isLeast, index, candidates),
        try isWorthScanning(index)
      {
        return end
      }
    }
    return nil
  }

  private func end(
    of attribute: AttributeSchema, isLeast: Bool, _ reference: IndexReference,
    _ candidates: AccessCandidates
  ) -> OrderedAccess? {
    let index = reference.schema
    let leading = candidates.leadingMatches(of: index)
    // If each preceding column has a single value, the keys are in the attribute's order.
    let position = index.columns.prefix(leading.fixedCount + 1).firstIndex { column in
      if case .attribute(attribute.slot) = column.source, case .plain = column.kind {
        true
      } else {
        false
      }
    }
    guard let position, let implied = candidates.implied(by: index) else { return nil }
    let own = position < leading.count ? leading[position] : ColumnMatch()
    if case .points(let values) = own.condition, values.contains(where: \.isNull) { return nil }
    let matches = leading.prefix(position) + [own]
    let covered = Set(implied + matches.flatMap(\.covered))
    guard covered.count == conjuncts.count,
      let narrowed = ScanRanges(columns: reference.keyColumns, matches: Array(matches)),
      !narrowed.isCut, narrowed.usedColumns == matches.count
    else { return nil }
    return OrderedAccess(
      index: reference, ranges: narrowed.ranges,
      isForward: index.columns[position].isAscending == isLeast, covered: covered,
      matches: Array(leading.prefix(matches.count)))
  }
}
