internal import ArborModel

extension QueryPlanner {
  /// A walk along an index that meets the least or the greatest value first, and no rows but those
  /// of the query; nil where the aggregate is of another kind, or no index has both.
  func end(for aggregate: BoundAggregate) throws -> OrderedAccess? {
    let isLeast = aggregate.function == .minimum
    guard isLeast || aggregate.function == .maximum, case .path(let path) = aggregate.source,
      path.hops.isEmpty, case .attribute(let attribute) = path.leaf, !isNeverTrue
    else { return nil }
    let candidates = AccessCandidates(conjuncts, of: scope)
    // Short keys first: those that are cut do not serve.
    let indexes = query.entity.indexes.enumerated()
      .sorted { $0.element.columns.count < $1.element.columns.count }
    for (place, index) in indexes where candidates.isReady(place) {
      if let end = end(of: attribute, isLeast: isLeast, index, place, candidates),
        try isWorthWalking(index, end.database)
      {
        return end
      }
    }
    return nil
  }

  private func end(
    of attribute: AttributeSchema, isLeast: Bool, _ index: IndexSchema, _ place: Int,
    _ candidates: AccessCandidates
  ) -> OrderedAccess? {
    let leading = candidates.leadingMatches(of: index)
    // Where the columns before it have one value each, the keys have the attribute's order.
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
      let narrowed = ScanRanges(
        columns: query.entity.keyColumns(of: index), matches: Array(matches)),
      !narrowed.isCut, narrowed.usedColumns == matches.count
    else { return nil }
    let number = candidates.storeIndexNumber(place)
    return OrderedAccess(
      index: index, place: number, database: source.store.databases.indexes[number].database,
      ranges: narrowed.ranges, isForward: index.columns[position].isAscending == isLeast,
      budget: .max, covered: covered, matches: Array(leading.prefix(matches.count)))
  }
}

extension QueryExecutor {
  /// For each aggregate the walk that meets its value first; nil where one of them has none.
  func ends(_ aggregates: [BoundAggregate]) throws -> [OrderedAccess]? {
    guard query.limit == 0, query.offset == 0, query.groupLimit == nil else { return nil }
    var ends: [OrderedAccess] = []
    for aggregate in aggregates {
      guard let end = try planner.end(for: aggregate) else { return nil }
      ends.append(end)
    }
    return ends.isEmpty ? nil : ends
  }

  /// The least and greatest values that are asked for, from the ends of indexes; nil where the rows
  /// have to be walked.
  func valuesAtEnds(_ aggregates: [BoundAggregate]) throws -> [Value]? {
    guard let ends = try ends(aggregates) else { return nil }
    let pending = try pendingMatches()
    var values: [Value] = []
    for (aggregate, end) in zip(aggregates, ends) {
      guard case .path(let path) = aggregate.source, case .attribute(let attribute) = path.leaf
      else { return nil }
      var first = FirstValue(slot: attribute.slot)
      // Keys that were cut do not tell the order of their values.
      guard try visit(end, [], &first) else { return nil }
      var summary = ValueSummary()
      summary.add(first.value)
      for row in pending {
        summary.add(row.record.value(row.entity.attributes[attribute.slot].field))
      }
      values.append(summary.value(of: aggregate.function))
    }
    return values
  }
}

/// Takes the value of an attribute from the first row that has one.
private struct FirstValue: RowSink {
  let slot: Int
  private(set) var value = Value.null

  init(slot: Int) { self.slot = slot }

  mutating func take(_ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema) -> Bool {
    value = row.record.value(entity.attributes[slot].field)
    // What is no number has a place in an index, and none among the least and the greatest.
    return value.isNull || value.isNotANumber
  }
}
