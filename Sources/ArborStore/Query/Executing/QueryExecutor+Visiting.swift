internal import ArborModel
internal import LMDB

/// Visits stored rows by each kind of access. Each visit verifies the record, skips objects that
/// the context has changed, evaluates the remaining conditions and delivers the row.
extension QueryExecutor {
  /// Visits the rows of a plan in the order of their object numbers.
  func visit(_ plan: AccessPlan, _ rows: inout RowDelivery) throws {
    tally?.begin()
    switch plan.access {
    case .nothing, .ordered, .skipping: note(plan)
    case .scan:
      note(plan)
      for entity in family {
        guard try scan(entity, plan.residual, &rows) else { break }
      }
    case .numbers(let list):
      let (list, all) = try gathered(list)
      note(AccessPlan(access: .numbers(list), residual: plan.residual))
      let start = query.startsAfter.map { number in
        all.firstIndex { $0 > number.rawValue } ?? all.count
      }
      let numbers = all[(start ?? 0)...]
      if plan.isListed, !rows.readsRecords {
        try visitUnread(numbers, &rows)
      } else {
        let known = plan.isListed && !rows.readsKnown ? overlay?.known : nil
        try visit(numbers, plan.residual, known: known, mayBeMissing: !list.areStored, &rows)
      }
    }
    try rows.finish()
    try resolver.check()
  }

  /// Visits all records of one entity. Returns whether more rows are wanted.
  private func scan(
    _ entity: EntitySchema, _ nodes: [BoundNode], _ rows: inout RowDelivery
  ) throws -> Bool {
    let filter = try filter(nodes, for: entity)
    let older = try OlderRecords(of: entity, filter, self, nodes)
    // Two calls of one loop, which the compiler specializes into two loops: testing the filter
    // inside the loop slows down a filtered scan by an eighth, and `??` adds two thunks per row.
    guard let predicate = filter.predicate else {
      return try scan(entity, entity.layout, { _, _, _ in true }, older, resolver, &rows)
    }
    return try scan(entity, entity.layout, predicate, older, resolver, &rows)
  }

  /// The loop that runs for every object of the store. Its parameters are borrowed, so that none of
  /// them is retained and released per row.
  private func scan(
    _ entity: EntitySchema, _ layout: RecordLayout, _ predicate: CompiledPredicate,
    _ older: OlderRecords?, _ resolver: any RecordResolver, _ rows: inout RowDelivery
  ) throws -> Bool {
    let dirty = hasPendingChanges ? overlay?.dirty : nil
    // A forged index may contain the greatest possible number.
    guard query.startsAfter?.rawValue != .max else { return true }
    let start = query.startsAfter.map { $0.rawValue + 1 } ?? 0
    if start > ObjectNumber(entity: entity.number, sequence: .max >> 16).rawValue { return true }
    let limit = source.limit
    var entries = source.reader.scan(source.records(entity), from: start)
    return try RecordBatch.withBatch(of: entity) { batch in
      // A fetch of few rows should not read many.
      var most = 8
      while true {
        let mayBeMore = try batch.read(&entries, atMost: most)
        try limit.check(batch.count)
        try batch.checkKeys()
        for index in 0..<batch.count {
          let number = batch.number(index)
          if let dirty, dirty.contains(number) { continue }
          guard let record = batch.record(index, layout) else {
            guard
              try takeOther(
                batch.intact(index), batch.bytes(index), number, of: entity, predicate, older, &rows
              )
            else { return false }
            continue
          }
          guard predicate(record, number, resolver) else { continue }
          guard try rows.take(number, .stored(record), of: entity) else { return false }
        }
        guard mayBeMore else { return true }
        // Rows that take long to evaluate are read in smaller batches, so that the limit is checked
        // in time.
        most = min(RecordBatch.capacity, limit.batchSize)
      }
    }
  }

  /// Processes a scanned record that may be damaged or have an older layout. Returns whether more
  /// rows are wanted. Kept separate so that the scan's loop stays small enough to be optimized
  /// well.
  ///
  /// - Parameter intact: The record, if its checksum is valid.
  @inline(never)
  private func takeOther(
    _ intact: RecordView?, _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber,
    of entity: EntitySchema, _ predicate: CompiledPredicate, _ older: OlderRecords?,
    _ rows: inout RowDelivery
  ) throws -> Bool {
    if let older, let intact, let form = older.form(of: intact) {
      return try older.visit(intact, form, number, of: entity, &rows)
    }
    let record = try verified(bytes, number, entity, entity.layout)
    guard predicate(record, number, resolver) else { return true }
    return try rows.take(number, .stored(record), of: entity)
  }

  /// Visits objects in ascending order of their numbers without reading their records.
  private func visitUnread(_ numbers: ArraySlice<UInt64>, _ rows: inout RowDelivery) throws {
    let dirty = hasPendingChanges ? overlay?.dirty : nil
    for raw in numbers {
      let number = ObjectNumber(rawValue: raw)
      if let dirty, dirty.contains(number) { continue }
      guard let entity = source.schema.entity(of: number) else { continue }
      guard try rows.take(number, .known, of: entity) else { return }
    }
  }

  /// Visits objects in ascending order of their numbers.
  ///
  /// - Parameters:
  ///   - known: The objects whose records need not be read.
  ///   - mayBeMissing: Whether numbers without an object are skipped instead of reported as damage.
  private func visit(
    _ numbers: ArraySlice<UInt64>, _ nodes: [BoundNode], known: NumberMap?, mayBeMissing: Bool,
    _ rows: inout RowDelivery
  ) throws {
    let dirty = hasPendingChanges ? overlay?.dirty : nil
    let limit = source.limit
    var start = numbers.startIndex
    for entity in family {
      let run = numbers[start...].prefix { ObjectNumber(rawValue: $0).entity == entity.number }
      guard !run.isEmpty else { continue }
      let filter = try filter(nodes, for: entity)
      let layout = entity.layout
      let records = source.records(entity)
      let cursor = try source.reader.cursor(records)
      // A cursor searches its current page first, which only helps if the numbers are close
      // together.
      let areNear = try run.count > source.reader.entryCount(records) / 64
      for raw in run {
        let number = ObjectNumber(rawValue: raw)
        try limit.check()
        if dirty?.contains(number) ?? false { continue }
        if known?.contains(number) ?? false {
          guard try rows.take(number, .known, of: entity) else { return }
        } else if let bytes = try areNear
          ? cursor.seekExact(raw)?.value : source.reader.get(records, key: raw)
        {
          let record = try verified(bytes, number, entity, layout)
          if filter.accepts(record, number, resolver) {
            guard try rows.take(number, .stored(record), of: entity) else { return }
          }
        } else if !mayBeMissing {
          throw StoreError.missingRecord(number, entity)
        }
      }
      start = run.endIndex
    }
    if start < numbers.endIndex { try checkForeign(ObjectNumber(rawValue: numbers[start])) }
  }

  /// Throws an error for a number from an index or a relationship that doesn't belong to the
  /// query's entities.
  private func checkForeign(_ number: ObjectNumber) throws {
    throw StoreError.corrupted(
      entity: query.entity.name, object: number,
      what:
        "An index or a relationship refers to object number \(number.rawValue), which belongs to "
        + "another entity.")
  }

  /// Visits the rows of a plan that scans in order. Returns `false` if the scan was abandoned.
  func visit(inOrder plan: AccessPlan, _ rows: inout RowDelivery) throws -> Bool {
    guard case .ordered(let ordered) = plan.access else { return false }
    ran = .rows(plan)
    return try visit(ordered, plan.residual, &rows)
  }

  /// Visits the entries of an index in key order.
  ///
  /// - Returns: `false` if the scan was abandoned, because it took too long or encountered
  ///   truncated keys, which don't determine the order of their records. The caller must then
  ///   discard the rows that the sink has taken.
  func visit(
    _ ordered: OrderedAccess, _ nodes: [BoundNode], _ rows: inout RowDelivery
  ) throws -> Bool {
    guard var lookups = try OrderedLookups(self, nodes) else { return false }
    source.noteUse(of: ordered.index)
    var keys = 0
    defer { source.keyTally?.add(keys, of: source.schema.planName(of: ordered.index.schema)) }
    let cursor = try source.reader.cursor(source.database(of: ordered.index))
    let isForward = ordered.isForward
    // Only the first key can be the one at which an earlier scan ended.
    var begin = ordered.last
    for range in isForward ? ordered.ranges : ordered.ranges.reversed() {
      var entry = try isForward ? cursor.seek(range.lower) : last(cursor, in: range)
      let isOpen = range.isOpen(isForward: isForward)
      while let found = entry {
        if !isOpen, range.ends(before: found.key, isForward: isForward) { break }
        keys += 1
        guard found.key.count < KeyBuffer.indexLimit else { return false }
        let behind = begin.flatMap { found.key.elementsEqual($0.key) ? $0.number : nil }
        begin = nil
        if try cursor.valueCount() == 1 {
          if behind.map({ cursor.number(of: found) > $0.rawValue }) ?? true {
            guard try lookups.take(cursor.number(of: found), &rows) else {
              return try finish(&rows)
            }
          }
        } else if let behind {
          guard try take(found.key, behind: behind, cursor, &lookups, &rows) else {
            return try finish(&rows)
          }
        } else {
          var batch = try cursor.firstNumbers(found.key)
          while let numbers = batch {
            for number in numbers {
              guard try lookups.take(number, &rows) else { return try finish(&rows) }
            }
            batch = try cursor.nextNumbers()
          }
        }
        guard lookups.visited <= ordered.budget else { return false }
        entry = try isForward ? cursor.nextKey() : cursor.previousKey()
      }
    }
    return try finish(&rows)
  }

  /// Visits the numbers of a key that are greater than a given number, and leaves the cursor on the
  /// key. Returns whether more rows are wanted.
  private func take(
    _ key: UnsafeRawBufferPointer, behind number: ObjectNumber, _ cursor: borrowing Cursor,
    _ lookups: inout OrderedLookups, _ rows: inout RowDelivery
  ) throws -> Bool {
    var entry = number.rawValue == .max ? nil : try cursor.seek(key, number: number.rawValue + 1)
    while let found = entry {
      guard try lookups.take(cursor.number(of: found), &rows) else { return false }
      entry = try cursor.nextDuplicate()
    }
    // An unsuccessful search leaves the cursor at an arbitrary position.
    _ = try cursor.seek(key)
    return true
  }

  private func finish(_ rows: inout RowDelivery) throws -> Bool {
    try rows.finish()
    try resolver.check()
    return true
  }

  /// Returns the last entry below the end of a range, or `nil` if there isn't one.
  private func last(_ cursor: borrowing Cursor, in range: ScanRange) throws -> Entry? {
    guard let upper = range.upper else { return try cursor.last() }
    guard try cursor.seek(upper) != nil else { return try cursor.last() }
    return try cursor.previousKey()
  }
}

extension StoreError {
  /// Creates the error for an index entry whose object does not exist.
  static func missingRecord(_ number: ObjectNumber, _ entity: EntitySchema) -> StoreError {
    .corrupted(
      entity: entity.name, object: number,
      what: "An index refers to this object, but the object has no record. Check the store.")
  }
}

/// Looks up the objects of index entries one by one.
struct OrderedLookups: ~Copyable {
  private let executor: QueryExecutor
  private let nodes: [BoundNode]
  private let dirty: NumberMap?
  private(set) var visited = 0

  // Cached for the entity of the last object, because most queries have only one entity.
  private var entity: EntitySchema
  private var layout: RecordLayout
  private var predicate: CompiledPredicate?
  private var records: Database

  /// - Returns: `nil` if the query has no entities.
  init?(_ executor: QueryExecutor, _ nodes: [BoundNode]) throws {
    guard let first = executor.family.first else { return nil }
    self.executor = executor
    self.nodes = nodes
    dirty = executor.hasPendingChanges ? executor.overlay?.dirty : nil
    entity = first
    layout = first.layout
    predicate = try executor.filter(nodes, for: first).predicate
    records = executor.source.records(first)
  }

  /// Takes an object. Returns whether more rows are wanted.
  @inline(__always)
  mutating func take(_ raw: UInt64, _ rows: inout RowDelivery) throws -> Bool {
    guard let (record, entity) = try record(raw) else { return true }
    return try rows.take(ObjectNumber(rawValue: raw), .stored(record), of: entity)
  }

  /// Returns the record of an object, or `nil` if the context has changed the object, or if it isn't
  /// a row of the query.
  @inline(__always)
  mutating func record(_ raw: UInt64) throws -> (RecordView, EntitySchema)? {
    let number = ObjectNumber(rawValue: raw)
    visited += 1
    try executor.source.limit.check()
    if let dirty, dirty.contains(number) { return nil }
    if number.entity != entity.number {
      guard try change(to: number) else { return nil }
    }
    // Neighbors in an index are not neighbors among the records, so searching a cursor's current
    // page first would rarely succeed.
    guard let bytes = try executor.source.reader.get(records, key: raw) else {
      throw StoreError.missingRecord(number, entity)
    }
    let record = try executor.verified(bytes, number, entity, layout)
    if let predicate, !predicate(record, number, executor.resolver) { return nil }
    return (record, entity)
  }

  /// Switches to the records of another entity. Returns `false` if the query doesn't include it.
  private mutating func change(to number: ObjectNumber) throws -> Bool {
    guard let other = executor.family.first(where: { $0.number == number.entity }) else {
      return false
    }
    entity = other
    layout = other.layout
    predicate = try executor.filter(nodes, for: other).predicate
    records = executor.source.records(other)
    return true
  }
}
