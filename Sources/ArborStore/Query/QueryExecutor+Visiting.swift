internal import ArborModel
internal import LMDB

/// The ways to stored rows: each checks a record, skips what the context has changed, asks the
/// remaining conditions and hands the row on.
extension QueryExecutor {
  /// Visits the rows of a plan whose order is that of the object numbers.
  ///
  /// - Parameter skipsKnown: Whether objects that the context has need not be read where nothing is
  ///   asked of them.
  func visit<Sink: RowSink>(
    _ plan: AccessPlan, _ sink: inout Sink, skipsKnown: Bool
  ) throws {
    switch plan.access {
    case .nothing, .ordered: break
    case .scan:
      for entity in family {
        guard try scan(entity, plan.residual, &sink) else { break }
      }
    case .numbers(let numbers, let candidate):
      let areStored = candidate.namesStoredObjects
      let known = skipsKnown && areStored && plan.residual.isEmpty ? overlay?.known : nil
      try look(up: numbers, plan.residual, known: known, mayBeMissing: !areStored, &sink)
    }
    try resolver.check()
  }

  /// Visits all records of one entity; returns whether more rows are wanted.
  private func scan<Sink: RowSink>(
    _ entity: EntitySchema, _ nodes: [BoundNode], _ sink: inout Sink
  ) throws -> Bool {
    let predicate = try filter(nodes, for: entity).predicate
    return try scan(entity, entity.layout, predicate ?? { _, _, _ in true }, resolver, &sink)
  }

  /// The loop that runs for every object of the store. Its parameters are borrowed, so that none of
  /// them is retained and released for every row.
  private func scan<Sink: RowSink>(
    _ entity: EntitySchema, _ layout: RecordLayout, _ predicate: CompiledPredicate,
    _ resolver: any RecordResolver, _ sink: inout Sink
  ) throws -> Bool {
    let dirty = hasPendingChanges ? overlay?.dirty : nil
    let cursor = try source.reader.cursor(source.records(entity))
    var next = try cursor.first()
    while let entry = next {
      let number = ObjectNumber(rawValue: entry.integerKey)
      if let dirty, dirty.contains(number) {
        next = try cursor.next()
        continue
      }
      let record = try verified(entry.value, number, entity, layout)
      if predicate(record, number, resolver) {
        guard try sink.take(number, .stored(record), of: entity) else { return false }
      }
      next = try cursor.next()
    }
    return true
  }

  /// Visits the objects of given numbers, which are in ascending order.
  private func look<Sink: RowSink>(
    up numbers: [UInt64], _ nodes: [BoundNode], known: NumberMap?, mayBeMissing: Bool,
    _ sink: inout Sink
  ) throws {
    let dirty = hasPendingChanges ? overlay?.dirty : nil
    var start = 0
    for entity in family {
      var end = start
      while end < numbers.count, ObjectNumber(rawValue: numbers[end]).entity == entity.number {
        end += 1
      }
      guard end > start else { continue }
      let filter = try filter(nodes, for: entity)
      let layout = entity.layout
      let cursor = try source.reader.cursor(source.records(entity))
      for raw in numbers[start..<end] {
        let number = ObjectNumber(rawValue: raw)
        if dirty?.contains(number) ?? false { continue }
        if known?.contains(number) ?? false {
          guard try sink.take(number, .known, of: entity) else { return }
        } else if let entry = try cursor.seekExact(raw) {
          let record = try verified(entry.value, number, entity, layout)
          if filter.accepts(record, number, resolver) {
            guard try sink.take(number, .stored(record), of: entity) else { return }
          }
        } else if !mayBeMissing {
          throw missing(number, entity)
        }
      }
      start = end
    }
  }

  /// Visits the entries of an index in the order of its keys.
  ///
  /// - Returns: false where the walk was given up: it took too long, or met keys that were cut and
  ///   so do not tell the order of their records. What the sink has taken is to be thrown away.
  func visit<Sink: RowSink>(
    _ walk: OrderedAccess, _ nodes: [BoundNode], _ sink: inout Sink
  ) throws -> Bool {
    guard let needed = query.rowsNeeded, needed > 0 else { return false }
    var rows = OrderedRows(self, nodes)
    let cursor = try source.reader.cursor(walk.database)
    var numbers: [UInt64] = []
    for range in walk.isForward ? walk.ranges : walk.ranges.reversed() {
      var entry = try walk.isForward ? cursor.seek(range.lower) : last(cursor, in: range)
      while let found = entry {
        if walk.isForward {
          if let upper = range.upper, !found.key.isBefore(upper) { break }
        } else if found.key.isBefore(range.lower) {
          break
        }
        guard found.key.count < KeyBuffer.indexLimit else { return false }
        let count = try cursor.valueCount()
        if count == 1 {
          guard try rows.take(found.integerValue, &sink) else { return try finish() }
        } else {
          numbers.removeAll(keepingCapacity: true)
          try NumberCollector.appendAll(of: found.key, cursor, to: &numbers)
          for number in numbers {
            guard try rows.take(number, &sink) else { return try finish() }
          }
        }
        guard rows.visited <= walk.budget else { return false }
        entry = try walk.isForward ? cursor.nextKey() : cursor.previousKey()
      }
    }
    return try finish()
  }

  private func finish() throws -> Bool {
    try resolver.check()
    return true
  }

  /// The last entry below the end of a range.
  private func last(_ cursor: borrowing Cursor, in range: ScanRange) throws -> Entry? {
    guard let upper = range.upper else { return try cursor.last() }
    guard try cursor.seek(upper) != nil else { return try cursor.last() }
    return try cursor.previousKey()
  }

  fileprivate func missing(_ number: ObjectNumber, _ entity: EntitySchema) -> StoreError {
    .corrupted(
      entity: entity.name, object: number, what: "An index names the object, which has no record.")
  }
}

/// Looks up the objects that an index names one after another.
private struct OrderedRows {
  private let executor: QueryExecutor
  private let dirty: NumberMap?
  private var filters: [(filter: RowFilter, database: Database)] = []
  private(set) var visited = 0
  private let nodes: [BoundNode]

  init(_ executor: QueryExecutor, _ nodes: [BoundNode]) {
    self.executor = executor
    self.nodes = nodes
    dirty = executor.hasPendingChanges ? executor.overlay?.dirty : nil
  }

  /// Returns whether more rows are wanted.
  mutating func take<Sink: RowSink>(_ raw: UInt64, _ sink: inout Sink) throws -> Bool {
    let number = ObjectNumber(rawValue: raw)
    visited += 1
    if dirty?.contains(number) ?? false { return true }
    guard let (filter, database) = try filter(for: number) else { return true }
    guard let bytes = try executor.source.reader.get(database, key: raw) else {
      throw executor.missing(number, filter.entity)
    }
    let record = try executor.verified(bytes, number, filter.entity, filter.entity.layout)
    guard filter.accepts(record, number, executor.resolver) else { return true }
    return try sink.take(number, .stored(record), of: filter.entity)
  }

  private mutating func filter(
    for number: ObjectNumber
  ) throws -> (filter: RowFilter, database: Database)? {
    if let known = filters.first(where: { $0.filter.entity.number == number.entity }) {
      return known
    }
    guard let entity = executor.family.first(where: { $0.number == number.entity }) else {
      return nil
    }
    filters.append(
      (try executor.filter(nodes, for: entity), executor.source.records(entity)))
    return filters.last
  }
}
