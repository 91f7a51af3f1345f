internal import ArborModel

/// A covering index: its keys contain all values that the aggregates need, so that it is read
/// instead of the records.
struct CoveringIndex {
  let index: IndexReference
  let ranges: [ScanRange]
  let filter: KeyFilter?
  /// The conditions on its leading columns, for the explanation.
  let matches: [ColumnMatch]

  /// The first column, which contains the values.
  var column: KeyDecoder.Column { index.keyColumns[0] }
}

extension QueryPlanner {
  /// Returns the covering index for an attribute. Returns `nil` if no index contains exactly the
  /// values of the rows, or if the index is not much smaller than the records.
  func coveringIndex(_ attribute: AttributeSchema) throws -> CoveringIndex? {
    // The sum of floating-point numbers depends on their order.
    guard attribute.field.kind.form.isWhole else { return nil }
    guard query.limit == 0, query.offset == 0, query.groupLimit == nil,
      query.continuation == nil, !isNeverTrue, let covering = leadingIndex(attribute)
    else { return nil }
    let declaring = scope.schema.entities[covering.index.schema.declaringEntity]
    guard declaring.concreteFamily.count == family.count else { return nil }
    // A step to the next key takes longer than one to the next record.
    let isShort = try counts.leafPages(of: covering.index) <= counts.leafPages(of: family) / 3
    return isShort ? covering : nil
  }

  /// Returns an index that begins with an attribute and whose keys decide the predicate, or `nil`
  /// if there isn't one.
  private func leadingIndex(_ attribute: AttributeSchema) -> CoveringIndex? {
    if !conjuncts.isEmpty {
      guard let candidate = exactAccessPath(),
        case .index(let index, let ranges, let matches) = candidate.accessPath,
        index.schema.isLed(by: attribute)
      else { return nil }
      return CoveringIndex(
        index: index, ranges: ranges.ranges, filter: candidate.filter, matches: matches)
    }
    // Short keys first.
    return candidates([]).shortestIndexes
      .first {
        $0.schema.isLed(by: attribute) && $0.schema.condition == nil && !$0.schema.hasManyKeys
      }.map { CoveringIndex(index: $0, ranges: ScanRange.whole, filter: nil, matches: []) }
  }
}

extension IndexSchema {
  /// Returns whether the keys begin with the values of an attribute.
  fileprivate func isLed(by attribute: AttributeSchema) -> Bool {
    guard let first = columns.first, case .attribute(attribute.slot) = first.source,
      case .plain = first.kind
    else { return false }
    return true
  }
}
