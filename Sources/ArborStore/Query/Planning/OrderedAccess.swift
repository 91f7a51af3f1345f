internal import ArborModel

/// A scan along an index whose order is the order that was asked for, given up where it takes
/// longer than gathering all rows and sorting them.
final class OrderedAccess {
  let index: IndexReference
  /// In the order of the keys; a single open range for the whole index.
  let ranges: [ScanRange]
  /// Whether the order asked for is that of the keys, or the opposite.
  let isForward: Bool
  /// How many rows it may visit.
  let budget: Int
  /// The conjuncts that hold for all its rows.
  let covered: Set<Int>
  /// The conditions on its leading columns, for the explanation.
  let matches: [ColumnMatch]
  /// The row behind which it goes on: no number up to this one is visited of those with this key.
  let last: (key: [UInt8], number: ObjectNumber)?

  init(
    index: IndexReference, ranges: [ScanRange], isForward: Bool, budget: Int = .max,
    covered: Set<Int>, matches: [ColumnMatch], last: (key: [UInt8], number: ObjectNumber)? = nil
  ) {
    self.index = index
    self.ranges = ranges
    self.isForward = isForward
    self.budget = budget
    self.covered = covered
    self.matches = matches
    self.last = last
  }

  func limited(to budget: Int) -> OrderedAccess {
    OrderedAccess(
      index: index, ranges: ranges, isForward: isForward, budget: budget, covered: covered,
      matches: matches)
  }
}

extension AccessPlan {
  /// The same plan from the row on that an earlier answer ended at, where it scans in order.
  func begun(behind continuation: RowContinuation, _ query: StoreQuery) -> AccessPlan {
    guard case .ordered(let ordered) = access else { return self }
    return AccessPlan(
      access: .ordered(ordered.begun(behind: continuation, query)), residual: residual)
  }
}

extension OrderedAccess {
  /// The same scan from the key of a row on, which an earlier answer ended at.
  ///
  /// Neither the keys before it are visited, nor rows with that key and lower numbers. Where the
  /// position cannot be told in keys, the scan is the whole.
  func begun(behind continuation: RowContinuation, _ query: StoreQuery) -> OrderedAccess {
    guard let key = key(of: continuation, query) else { return self }
    let rest = ranges.map { range in
      if isForward {
        return ScanRange(
          lower: range.lower.lexicographicallyPrecedes(key) ? key : range.lower, upper: range.upper)
      }
      let end = ScanRange.successor(of: key)
      guard let end, range.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true else {
        return range
      }
      return ScanRange(lower: range.lower, upper: end)
    }
    return OrderedAccess(
      index: index, ranges: rest.filter { !$0.isEmpty }, isForward: isForward, budget: budget,
      covered: covered, matches: matches, last: (key, continuation.number))
  }

  private func key(of continuation: RowContinuation, _ query: StoreQuery) -> [UInt8]? {
    let fixedCount = matches.fixedCount
    var key = KeyBuffer()
    if fixedCount > 0 {
      // All keys of the scan begin with what the equalities fix, where nothing else narrows it.
      guard matches.count == fixedCount, ranges.count == 1 else { return nil }
      ranges[0].lower.withUnsafeBytes { key.append($0, mask: 0) }
    }
    let sources = index.schema.columns.prefix(fixedCount).map(\.source)
    let kept = zip(query.sortKeys, continuation.values).filter { sortKey, _ in
      !sources.contains { sortKey.isRead(from: $0) }
    }
    for (column, (sortKey, value)) in zip(index.schema.columns.dropFirst(fixedCount), kept) {
      guard append(value, sortKey, column, to: &key) else { return nil }
    }
    return key.isCut ? nil : Array(key.bytes)
  }

  private func append(
    _ value: PropertyValue, _ sortKey: BoundSortKey, _ column: IndexSchema.Column,
    to key: inout KeyBuffer
  ) -> Bool {
    switch (sortKey.path?.leaf, value) {
    case (.attribute(let attribute)?, .string(let text)) where attribute.field.kind == .string:
      KeyEncoder.append(
        sortKey.options.folding.fold(text), isAscending: column.isAscending, to: &key)
      return true
    case (.attribute(let attribute)?, _):
      return KeyEncoder.append(
        value, as: attribute.field.kind, isAscending: column.isAscending, to: &key)
    case (.toOne?, _):
      return KeyEncoder.append(value, as: .reference, isAscending: column.isAscending, to: &key)
    case (.object?, _), (.entityName?, _), (nil, _): return false
    }
  }
}
