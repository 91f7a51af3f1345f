internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// Returns the summary of a whole-numbered attribute, read from the keys of a covering index, or
  /// `nil` if the rows have to be read.
  func summaryOfKeys(_ attribute: AttributeSchema) throws -> FieldSummary? {
    guard !hasPendingChanges, let covering = try planner.coveringIndex(attribute) else {
      return nil
    }
    source.noteUse(of: covering.index)
    ran = .keys(covering)
    var summary = FieldSummary(kind: attribute.field.kind)
    let mask = KeyEncoder.mask(isAscending: covering.column.isAscending)
    let isFlag = covering.column.kind == .boolean
    let length = isFlag ? 2 : 9
    var isReadable = true
    let cursor = try source.reader.cursor(source.database(of: covering.index))
    for range in covering.ranges where isReadable {
      isReadable = try source.forEachKey(cursor, in: range) {
        entry, count in
        let key = entry.key
        guard covering.filter?.accepts(key) ?? true, let marker = key.first,
          marker ^ mask != KeyEncoder.nilMarker
        else { return true }
        guard key.count >= length else { return false }
        if isFlag {
          summary.add(Int64(key[1] ^ mask), times: count)
        } else {
          let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
          let number = (mask == 0 ? bits : ~bits) ^ (1 << 63)
          summary.add(Int64(bitPattern: number), times: count)
        }
        return true
      }
    }
    return isReadable ? summary : nil
  }
}

extension QueryExecutor {
  /// Returns the requested minima and maxima from the ends of indexes, or `nil` if the rows have to
  /// be scanned.
  func valuesAtEnds(_ aggregates: [BoundAggregate]) throws -> [PropertyValue]? {
    guard let ends = try planner.ends(for: aggregates) else { return nil }
    ran = .ends(ends)
    let pending = try pendingMatches()
    var values: [PropertyValue] = []
    for (aggregate, end) in zip(aggregates, ends) {
      guard case .path(let path) = aggregate.source, case .attribute(let attribute) = path.leaf
      else { return nil }
      var rows = RowDelivery(to: FirstValue(slot: attribute.slot))
      // The order of truncated keys doesn't determine the order of their values.
      guard try visit(end, [], &rows) else { return nil }
      var summary = ValueSummary()
      summary.add(rows.sink(as: FirstValue.self).value)
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
  private(set) var value = PropertyValue.null

  init(slot: Int) { self.slot = slot }

  var rowsWanted: Int { 1 }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    for index in rows.indices {
      let row = rows[index]
      value = row.record.value(entity.attributes[slot].field)
      // NaN is indexed but is neither a minimum nor a maximum.
      if !value.isNull, !value.isNotANumber { return false }
    }
    return true
  }
}
