internal import ArborModel
internal import LMDB

/// An index whose keys hold all values that aggregates are made of: a covering index, which is read
/// in place of the records.
struct CoveringIndex {
  let index: IndexSchema
  /// The index's number throughout the store.
  let place: Int
  let database: Database
  let ranges: [ScanRange]
  let filter: KeyFilter?
  /// The conditions on its leading columns, for the explanation.
  let matches: [ColumnMatch]
  /// The kind of the first column, which has the values.
  let column: KeyDecoder.Column
}

extension QueryExecutor {
  /// What functions of one whole-numbered attribute are made of, from the keys of an index that
  /// begins with it; nil where the rows have to be read.
  func summaryOfKeys(_ attribute: AttributeSchema) throws -> FieldSummary? {
    guard !hasPendingChanges, let covering = try coveringIndex(attribute) else { return nil }
    source.store.noteUse(ofIndex: covering.place)
    var summary = FieldSummary(kind: attribute.field.kind)
    let mask = KeyEncoder.mask(isAscending: covering.column.isAscending)
    let isFlag = covering.column.kind == .boolean
    let length = isFlag ? 2 : 9
    var isReadable = true
    let cursor = try source.reader.cursor(covering.database)
    for range in covering.ranges where isReadable {
      isReadable = try CandidateCollector.forEachKey(cursor, in: range, source.limit) {
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

  /// The index to read in place of the records; nil where none has the values of exactly the rows,
  /// or has much fewer pages than the records.
  func coveringIndex(_ attribute: AttributeSchema) throws -> CoveringIndex? {
    switch attribute.field.kind {
    case .int16, .int32, .int64, .boolean: break
    // The sum of other numbers depends on their order.
    default: return nil
    }
    guard query.limit == 0, query.offset == 0, query.groupLimit == nil,
      query.continuation == nil, !planner.isNeverTrue,
      let covering = planner.coveringIndex(attribute),
      source.schema.entities[covering.index.declaringEntity].concreteFamily.count == family.count
    else { return nil }
    let recordPages = try family.reduce(0) { total, entity in
      total + (try source.reader.statistics(source.records(entity)).leafPages)
    }
    // A step to the next key takes longer than one to the next record.
    let keyPages = try source.reader.statistics(covering.database).leafPages
    return keyPages <= recordPages / 3 ? covering : nil
  }
}

extension QueryPlanner {
  /// An index that begins with an attribute and whose keys tell which rows fulfil the predicate.
  fileprivate func coveringIndex(_ attribute: AttributeSchema) -> CoveringIndex? {
    if !conjuncts.isEmpty {
      guard let accessPath = exactAccessPath(),
        case .index(let index, let database, let ranges, let matches) = accessPath.accessPath,
        index.isLed(by: attribute), let place = accessPath.place
      else { return nil }
      return CoveringIndex(
        index: index, place: place, database: database, ranges: ranges.ranges,
        filter: accessPath.filter,
        matches: matches, column: query.entity.keyColumns(of: index)[0])
    }
    let candidates = AccessCandidates([], of: scope)
    // Short keys first.
    let indexes = query.entity.indexes.enumerated()
      .sorted { $0.element.columns.count < $1.element.columns.count }
    for (place, index) in indexes
    where index.isLed(by: attribute) && index.condition == nil && !index.isText
      && candidates.isReady(place)
    {
      let number = candidates.storeIndexNumber(place)
      return CoveringIndex(
        index: index, place: number, database: source.store.databases.indexes[number].database,
        ranges: ScanRange.whole, filter: nil, matches: [],
        column: query.entity.keyColumns(of: index)[0])
    }
    return nil
  }
}

extension IndexSchema {
  /// Whether the keys begin with the values of an attribute.
  fileprivate func isLed(by attribute: AttributeSchema) -> Bool {
    guard let first = columns.first, case .attribute(attribute.slot) = first.source,
      case .plain = first.kind
    else { return false }
    return true
  }
}
