internal import ArborModel
internal import LMDB

/// Gathers the object numbers that an access path names, without reading a record.
struct CandidateCollector {
  let source: QuerySource
  /// The entities whose objects count.
  let family: [EntitySchema]

  /// The numbers, ascending and without repetition, or nil as soon as there are more than `most`
  /// or finding them has cost more than `effort`, in units of ``CostModel``.
  func collect(
    _ candidate: AccessCandidate, atMost most: Int, effort: Int = .max
  ) throws -> [UInt64]? {
    var numbers: [UInt64] = []
    var effort = effort
    switch candidate.accessPath {
    case .objects(let objects):
      numbers = objects.map(\.rawValue)
    case .index(_, let database, let ranges, _):
      let cursor = try source.reader.cursor(database)
      for range in ranges.ranges {
        effort -= CostModel.seek
        let isAll = try Self.forEachKey(cursor, in: range, source.limit) { entry, count in
          effort -= CostModel.key
          if let filter = candidate.filter, !filter.accepts(entry.key) { return effort >= 0 }
          effort -= count / 8
          guard numbers.count + count <= most, effort >= 0 else { return false }
          try Self.append(entry, count, of: cursor, to: &numbers)
          return true
        }
        guard isAll else { return nil }
      }
    case .words(_, let database, let words, _):
      guard let found = try collect(words, database, effort: effort), found.count <= most else {
        return nil
      }
      numbers = found
    case .members(let relationship, let database, let owners):
      let cursor = try source.reader.cursor(database)
      for owner in owners {
        try source.limit.check()
        guard let entry = try cursor.seekExact(owner.rawValue) else { continue }
        let count = try cursor.valueCount()
        effort -= CostModel.seek + count / 8
        guard numbers.count + count <= most, effort >= 0 else { return nil }
        if relationship.isOrdered {
          try Self.appendOrdered(entry.key, cursor, to: &numbers)
        } else {
          try Self.append(entry, count, of: cursor, to: &numbers)
        }
      }
    case .inverse(let relationship, let objects):
      guard objects.count <= most else { return nil }
      try appendTargets(of: relationship, objects, to: &numbers)
    }
    if needsFilter(candidate) { numbers.removeAll { !isInFamily(ObjectNumber(rawValue: $0)) } }
    SortedNumbers.sortUnique(&numbers)
    return numbers
  }

  /// The numbers that are below all of some words, or nil as soon as finding them has cost more
  /// than `effort`.
  private func collect(
    _ words: [ScanRanges], _ database: Database, effort: Int
  ) throws -> [UInt64]? {
    let cursor = try source.reader.cursor(database)
    var common: [UInt64]?
    var effort = effort
    for word in words {
      var numbers: [UInt64] = []
      for range in word.ranges {
        let isAll = try Self.forEachKey(cursor, in: range, source.limit) { entry, count in
          effort -= CostModel.key + count / 8
          guard effort >= 0 else { return false }
          try Self.append(entry, count, of: cursor, to: &numbers)
          return true
        }
        guard isAll else { return nil }
      }
      SortedNumbers.sortUnique(&numbers)
      common = common.map { SortedNumbers.intersection($0, numbers) } ?? numbers
      if common?.isEmpty ?? true { return [] }
    }
    return common
  }

  /// How many rows an access path finds, from the counts that the store keeps of each key; nil
  /// where numbers of other entities or repetitions would be counted too.
  func count(_ candidate: AccessCandidate) throws -> Int? {
    guard !needsFilter(candidate) else { return nil }
    var total = 0
    switch candidate.accessPath {
    case .objects, .inverse, .words: return nil
    case .index(_, let database, let ranges, _):
      let cursor = try source.reader.cursor(database)
      for range in ranges.ranges {
        _ = try Self.forEachKey(cursor, in: range, source.limit) { entry, count in
          if candidate.filter?.accepts(entry.key) ?? true { total += count }
          return true
        }
      }
    case .members(_, let database, let owners):
      let cursor = try source.reader.cursor(database)
      for owner in owners where try cursor.seekExact(owner.rawValue) != nil {
        total += try cursor.valueCount()
      }
    }
    return total
  }

  /// Visits the keys of a range in their order, each with its first entry and how many it has.
  ///
  /// - Returns: false where `body` did, which ends the walk.
  @inline(__always)
  static func forEachKey(
    _ cursor: borrowing Cursor, in range: ScanRange, _ limit: WorkLimit,
    _ body: (Entry, Int) throws -> Bool
  ) throws -> Bool {
    var next = try cursor.seek(range.lower)
    while let entry = next {
      if let upper = range.upper, !entry.key.isBefore(upper) { return true }
      try limit.check()
      guard try body(entry, cursor.valueCount()) else { return false }
      next = try cursor.nextKey()
    }
    return true
  }

  /// Appends all numbers of the key that a cursor stands on, which are in ascending order.
  @inline(__always)
  static func append(
    _ entry: Entry, _ count: Int, of cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws(LMDBError) {
    if count == 1 {
      numbers.append(entry.integerValue)
    } else {
      try appendAll(of: entry.key, cursor, to: &numbers)
    }
  }

  /// Appends all numbers of a key, a page at a time.
  static func appendAll(
    of key: UnsafeRawBufferPointer, _ cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws(LMDBError) {
    var batch = try cursor.firstBatch(key)
    while let values = batch {
      numbers.append(WholeValues(values))
      batch = try cursor.nextBatch()
    }
  }

  /// Appends the members of an owner whose relationship is ordered.
  private static func appendOrdered(
    _ key: UnsafeRawBufferPointer, _ cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws {
    var batch = try cursor.firstBatch(key)
    while let values = batch {
      for value in WholeValues(values, as: OrderedMembers.StoredPair.self) {
        numbers.append(value.numbers.0)
      }
      batch = try cursor.nextBatch()
    }
  }

  /// Appends what a to-one relationship of some objects leads to.
  private func appendTargets(
    of relationship: RelationshipSchema, _ objects: [ObjectNumber], to numbers: inout [UInt64]
  ) throws {
    let resolver = SnapshotResolver(source, overlay: nil)
    for object in objects {
      guard let entity = source.schema.entity(of: object),
        entity.lineage.contains(relationship.declaringEntity),
        case .field(let index) = entity.relationships[relationship.slot].storage,
        let target = resolver.record(of: object)?.reference(entity.layout.fields[index])
      else { continue }
      numbers.append(target.rawValue)
    }
    try resolver.check()
  }

  /// Whether an access path may name objects of entities that are not asked for: an index holds
  /// those of all entities that have it.
  private func needsFilter(_ candidate: AccessCandidate) -> Bool {
    switch candidate.accessPath {
    case .objects, .inverse: true
    case .index(let index, _, _, _), .words(let index, _, _, _):
      source.schema.entities[index.declaringEntity].concreteFamily.count != family.count
    case .members(let relationship, _, _):
      source.schema.entities[relationship.destination].concreteFamily.count != family.count
    }
  }

  func isInFamily(_ number: ObjectNumber) -> Bool {
    family.contains { $0.number == number.entity }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes come before others in the order of keys.
  @inline(__always)
  func isBefore(_ other: [UInt8]) -> Bool {
    other.withUnsafeBytes { Ordering(bytes: self, $0) == .less }
  }
}
