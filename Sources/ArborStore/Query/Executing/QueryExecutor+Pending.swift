package import ArborModel

extension QueryExecutor {
  /// The context's inserted and changed objects that fulfil the predicate.
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

  /// By which keys the rows are found soonest; nil where the predicate names none, or so many that
  /// going through all rows is as good.
  private func pendingSelection(_ overlay: any PendingState) -> PendingSelection? {
    let rows = overlay.dirty.count
    guard rows >= overlay.leastSelected, !planner.conjuncts.isEmpty else { return nil }
    let candidates = planner.candidates(planner.conjuncts)
    var best: (index: IndexSchema, matches: [ColumnMatch])?
    for index in query.entity.indexes where !index.isText {
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
  /// The columns at the beginning that have a few values, as long as they allow no more than some
  /// keys.
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

/// Which of a context's rows a predicate can be true of: those whose key, made of some columns, is
/// one of a few.
///
/// It is what the conditions on leading columns of an index state, so that an object is found among
/// thousands that wait for a commit as it would be found in the store. The rows are evaluated by
/// the whole predicate afterwards: a row too many costs time only.
package struct PendingSelection: Sendable {
  /// Of fewer rows than this none are selected: to evaluate them all takes no longer.
  package static let leastRows = 64
  /// How many rows there have to be for each key that is looked for.
  static let rowsPerKey = 4

  /// The columns that keys are made of. Those of the whole family lie in them alike.
  package let columns: [IndexSchema.Column]
  /// Keys as ``IndexKeys`` makes them of records, each once.
  package let keys: [[UInt8]]
}
