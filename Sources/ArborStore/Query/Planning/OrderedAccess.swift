internal import ArborModel

/// A scan along an index that has the requested order. It is abandoned once it takes longer than
/// gathering all rows and sorting them.
final class OrderedAccess {
  let index: IndexReference
  /// The ranges in key order. A scan of the whole index has a single open range.
  let ranges: [ScanRange]
  /// Whether the requested order is the order of the keys rather than its reverse.
  let isForward: Bool
  /// The maximum number of rows to visit.
  let budget: Int
  /// The conjuncts that hold for all rows of the scan.
  let covered: Set<Int>
  /// The conditions on the leading columns, for the explanation.
  let matches: [ColumnMatch]
  /// The row after which the scan continues, or `nil` for a scan from the beginning. Among the rows
  /// with this key, numbers up to this one are skipped.
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
  /// Returns the same plan, continued after the last row of an earlier result if the plan is an
  /// ordered scan.
  func begun(behind continuation: RowContinuation, _ query: StoreQuery) -> AccessPlan {
    guard case .ordered(let ordered) = access else { return self }
    return AccessPlan(
      access: .ordered(ordered.begun(behind: continuation, query)), residual: residual)
  }
}

extension OrderedAccess {
  /// Returns the same scan, continued after the last row of an earlier result.
  ///
  /// Skips the keys before that row, and rows that share its key but have lower numbers. Returns
  /// the scan unchanged if the position cannot be expressed as a key.
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
      // All keys of the scan share the prefix that the equalities fix, provided nothing else
      // narrows it.
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
    if case .part(_, let part) = column.source {
      guard let kind = part.fieldKind else { return false }
      var value = value
      if kind == .string, case .string(let text) = value {
        value = .string(sortKey.options.folding.fold(text))
      }
      return KeyEncoder.append(value, as: kind, isAscending: column.isAscending, to: &key)
    }
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
