internal import ArborModel

extension QueryExecutor {
  /// The least and greatest values that are asked for, from the ends of indexes; nil where the rows
  /// have to be scanned.
  func valuesAtEnds(_ aggregates: [BoundAggregate]) throws -> [Value]? {
    guard let ends = try planner.ends(for: aggregates) else { return nil }
    ran = .ends(ends)
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
