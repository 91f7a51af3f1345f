internal import ArborModel
internal import LMDB

/// Gathers the object numbers of an access path without reading records.
struct CandidateCollector {
  let source: QuerySource
  /// The entities whose objects are gathered.
  let family: [EntitySchema]

  /// Returns the numbers, ascending and distinct, or `nil` once there are more than `most` or
  /// gathering has cost more than `effort`, in units of ``Cost``.
  ///
  /// - Complexity: Linear in the keys and numbers, up to the bounds, plus sorting the numbers.
  func collect(
    _ candidate: AccessCandidate, atMost most: Int = .max, effort: Int = .max
  ) throws -> [UInt64]? {
    var numbers: [UInt64] = []
    switch candidate.accessPath {
    case .objects(let objects): numbers = objects.map(\.rawValue)
    case .index, .members:
      let isOrdered = candidate.isOrdered
      var bound = CountBound(most: most, effort: effort)
      let isAll = try source.forEachKey(of: candidate, &bound) { entry, count, cursor in
        if isOrdered {
          try Self.appendOrdered(entry.key, cursor, to: &numbers)
        } else {
          try Self.append(entry, count, of: cursor, to: &numbers)
        }
      }
      guard isAll else { return nil }
    case .words(let index, let words, _):
      guard let found = try collect(words, source.database(of: index), effort: effort),
        found.count <= most
      else { return nil }
      numbers = found
    case .inverse(let relationship, let objects):
      guard objects.count <= most else { return nil }
      try appendTargets(of: relationship, objects, to: &numbers)
    }
    if candidate.mayLeave(family, in: source.schema) {
      numbers.removeAll { !ObjectNumber(rawValue: $0).isOf(family) }
    }
    SortedNumbers.sortUnique(&numbers)
    return numbers
  }

  /// Returns the numbers that match all words, or `nil` once gathering has cost more than `effort`.
  private func collect(
    _ words: [ScanRanges], _ database: Database, effort: Int
  ) throws -> [UInt64]? {
    let cursor = try source.reader.cursor(database)
    var common: [UInt64]?
    var bound = CountBound(most: .max, effort: effort)
    for word in words {
      var numbers: [UInt64] = []
      for range in word.ranges {
        let isAll = try source.forEachKey(cursor, in: range) { entry, count in
          guard bound.allows(key: count) else { return false }
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

  /// Appends all numbers of the cursor's current key, in ascending order.
  @inline(__always)
  static func append(
    _ entry: Entry, _ count: Int, of cursor: borrowing Cursor,
    to numbers: inout [UInt64]
  ) throws(LMDBError) {
    if count == 1 {
      numbers.append(cursor.number(of: entry))
    } else {
      try appendAll(of: entry.key, cursor, to: &numbers)
    }
  }

  /// Appends all numbers of a key, one page at a time.
  static func appendAll(
    of key: UnsafeRawBufferPointer, _ cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws(LMDBError) {
    var batch = try cursor.firstNumbers(key)
    while let found = batch {
      numbers.append(found)
      batch = try cursor.nextNumbers()
    }
  }

  /// Appends the members of an owner of an ordered relationship.
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

  /// Appends the targets of a to-one relationship of the given objects.
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
}

extension AccessCandidate {
  /// Whether the access path reads members that are stored together with their positions.
  fileprivate var isOrdered: Bool {
    guard case .members(let relationship, _) = accessPath else { return false }
    return relationship.isOrdered
  }
}
