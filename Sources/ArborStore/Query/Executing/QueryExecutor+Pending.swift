package import ArborModel

extension QueryExecutor {
  /// Returns the context's inserted and changed objects that satisfy the predicate.
  func pendingMatches() throws -> [PendingRow] {
    guard let overlay, overlay.hasPendingChanges, !planner.isNeverTrue else { return [] }
    var matches: [PendingRow] = []
    let selection = pendingSelection(overlay)
    for entity in family {
      let rows = overlay.pendingRows(of: entity, selection)
      guard !rows.isEmpty else { continue }
      let filter = try filter(planner.conjuncts.map(\.node), for: entity)
      for (number, record) in rows {
        try source.limit.check()
        guard filter.accepts(record, number, resolver) else { continue }
        matches.append(PendingRow(number: number, record: record, entity: entity))
      }
    }
    try resolver.check()
    return matches
  }

  /// Returns the keys that select pending rows, or `nil` if scanning all pending rows is as fast:
  /// there are few of them, or the predicate fixes no keys or too many.
  private func pendingSelection(_ overlay: any PendingState) -> PendingSelection? {
    let rows = overlay.dirty.count
    guard rows >= overlay.leastSelected, !planner.conjuncts.isEmpty else { return nil }
    let candidates = planner.candidates(planner.conjuncts)
    var best: (index: IndexSchema, matches: [ColumnMatch])?
    for index in query.entity.indexes where !index.hasManyKeys {
      let matches = candidates.leadingMatches(of: index).points(
        atMost: rows / PendingSelection.rowsPerKey)
      guard matches.count > best?.matches.count ?? 0 else { continue }
      best = (index, matches)
    }
    guard let best,
      let ranges = ScanRanges(
        columns: query.entity.keyColumns(of: best.index), matches: best.matches)
    else { return nil }
    return PendingSelection(
      columns: Array(best.index.columns.prefix(ranges.usedColumns)),
      keys: ranges.ranges.map(\.lower))
  }
}

extension [ColumnMatch] {
  /// Returns the leading columns that are fixed to a few values, as long as their combinations
  /// don't exceed a number of keys.
  fileprivate func points(atMost most: Int) -> [ColumnMatch] {
    var keys = 1
    return Array(
      prefix { match in
        guard case .points(let values) = match.condition else { return false }
        keys *= values.count
        return keys <= most
      })
  }
}

/// Selects the pending rows that a predicate can match: those whose key, formed from some of the
/// columns, is in a small set of keys.
///
/// The keys come from the conditions on the leading columns of an index, so that an object is found
/// among thousands of uncommitted ones as it would be in the store. The whole predicate is
/// evaluated on the selected rows afterwards, so selecting too many rows only costs time.
package struct PendingSelection: Sendable {
  /// The minimum number of rows for a selection. Evaluating fewer rows takes no longer.
  package static let leastRows = 64
  /// The minimum number of rows per key.
  static let rowsPerKey = 4

  /// The columns that form the keys. They are stored alike in the records of the whole family.
  package let columns: [IndexSchema.Column]
  /// The distinct keys, in the form that ``IndexKeys`` creates from records.
  package let keys: [[UInt8]]
}
