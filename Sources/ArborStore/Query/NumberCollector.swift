internal import ArborModel
internal import LMDB

/// Gathers the object numbers that a way to rows names, without reading a record.
struct NumberCollector {
  let source: QuerySource
  /// The entities whose objects count.
  let family: [EntitySchema]

  /// The numbers, ascending and without repetition, or nil as soon as there are more than `most`.
  func collect(_ candidate: AccessCandidate, atMost most: Int) throws -> [UInt64]? {
    var numbers: [UInt64] = []
    switch candidate.way {
    case .objects(let objects):
      numbers = objects.map(\.rawValue)
    case .index(_, let database, let ranges):
      let cursor = try source.reader.cursor(database)
      for range in ranges.ranges {
        let isAll = try Self.forEachKey(cursor, in: range) { entry, count in
          guard numbers.count + count <= most else { return false }
          try Self.append(entry, count, of: cursor, to: &numbers)
          return true
        }
        guard isAll else { return nil }
      }
    case .members(_, let database, let owners):
      let cursor = try source.reader.cursor(database)
      for owner in owners {
        guard let entry = try cursor.seekExact(owner.rawValue) else { continue }
        let count = try cursor.valueCount()
        guard numbers.count + count <= most else { return nil }
        try Self.append(entry, count, of: cursor, to: &numbers)
      }
    }
    if needsFilter(candidate) { numbers.removeAll { !isInFamily(ObjectNumber(rawValue: $0)) } }
    Self.sortUnique(&numbers)
    return numbers
  }

  /// How many rows a way finds, from the counts that the store keeps of each key; nil where numbers
  /// of other entities or repetitions would be counted too.
  func count(_ candidate: AccessCandidate) throws -> Int? {
    guard !needsFilter(candidate) else { return nil }
    var total = 0
    switch candidate.way {
    case .objects: return nil
    case .index(_, let database, let ranges):
      let cursor = try source.reader.cursor(database)
      for range in ranges.ranges {
        _ = try Self.forEachKey(cursor, in: range) { _, count in
          total += count
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
    _ cursor: borrowing Cursor, in range: ScanRange,
    _ body: (Entry, Int) throws -> Bool
  ) throws -> Bool {
    var next = try cursor.seek(range.lower)
    while let entry = next {
      if let upper = range.upper, !entry.key.isBefore(upper) { return true }
      guard try body(entry, cursor.valueCount()) else { return false }
      next = try cursor.nextKey()
    }
    return true
  }

  /// Appends all numbers of the key that a cursor stands on, which are in ascending order.
  @inline(__always)
  static func append(
    _ entry: Entry, _ count: Int, of cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws {
    if count == 1 {
      numbers.append(entry.integerValue)
    } else {
      try appendAll(of: entry.key, cursor, to: &numbers)
    }
  }

  /// Appends all numbers of a key, a page at a time.
  static func appendAll(
    of key: UnsafeRawBufferPointer, _ cursor: borrowing Cursor, to numbers: inout [UInt64]
  ) throws {
    var batch = try cursor.firstBatch(key)
    while let values = batch {
      append(values, to: &numbers)
      batch = try cursor.nextBatch()
    }
  }

  /// Copies numbers as they lie on their page, where they need not be aligned.
  private static func append(_ values: UnsafeRawBufferPointer, to numbers: inout [UInt64]) {
    let (start, count) = (numbers.count, values.count / 8)
    numbers.append(contentsOf: repeatElement(0, count: count))
    numbers.withUnsafeMutableBytes { bytes in
      let room = UnsafeMutableRawBufferPointer(rebasing: bytes[(start * 8)...])
      room.copyMemory(from: UnsafeRawBufferPointer(rebasing: values[..<(count * 8)]))
    }
  }

  /// Whether a way may name objects of entities that are not asked for: an index holds those of all
  /// entities that have it.
  private func needsFilter(_ candidate: AccessCandidate) -> Bool {
    switch candidate.way {
    case .objects: true
    case .index(let index, _, _):
      source.schema.entities[index.declaringEntity].concreteFamily.count != family.count
    case .members(let relationship, _, _):
      source.schema.entities[relationship.destination].concreteFamily.count != family.count
    }
  }

  func isInFamily(_ number: ObjectNumber) -> Bool {
    family.contains { $0.number == number.entity }
  }

  private static func sortUnique(_ numbers: inout [UInt64]) {
    var isSorted = true
    for place in numbers.indices.dropFirst() where numbers[place - 1] >= numbers[place] {
      isSorted = false
      break
    }
    guard !isSorted else { return }
    numbers.sort()
    var end = 1
    for place in numbers.indices.dropFirst() where numbers[place] != numbers[end - 1] {
      numbers[end] = numbers[place]
      end += 1
    }
    numbers.removeLast(numbers.count - end)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes come before others in the order of keys.
  @inline(__always)
  func isBefore(_ other: [UInt8]) -> Bool {
    other.withUnsafeBytes { Ordering(bytes: self, $0) == .less }
  }
}
