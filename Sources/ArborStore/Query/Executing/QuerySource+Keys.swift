internal import ArborModel
internal import LMDB

extension QuerySource {
  /// Visits the keys of an index or member access path, each with its first entry and its number of
  /// entries. Returns `false` if the bound ended the visit.
  @inline(__always)
  func forEachKey(
    of candidate: AccessCandidate, _ bound: inout CountBound,
    _ body: (Entry, Int, borrowing Cursor) throws -> Void
  ) throws -> Bool {
    var keys = 0
    defer { keyTally?.add(keys, of: candidate, in: self) }
    switch candidate.accessPath {
    case .index(let index, let ranges, _):
      let cursor = try reader.cursor(database(of: index))
      for range in ranges.ranges {
        bound.look()
        let isAll = try forEachKey(cursor, in: range) { entry, count in
          keys += 1
          if let filter = candidate.filter, !filter.accepts(entry.key) {
            return bound.allowsStep()
          }
          guard bound.allows(key: count) else { return false }
          try body(entry, count, cursor)
          return true
        }
        guard isAll else { return false }
      }
    case .members(let relationship, let owners):
      let cursor = try reader.cursor(members(of: relationship))
      for owner in owners {
        try limit.check()
        guard let entry = try cursor.seekExact(owner.rawValue) else { continue }
        let count = try cursor.valueCount()
        keys += 1
        bound.look()
        guard bound.allows(count) else { return false }
        try body(entry, count, cursor)
      }
    case .objects, .words, .inverse:
      stopProgram("Objects, words and inverses are not lists of keys.")
    }
    return true
  }

  /// Visits the keys of a range in order, each with its first entry and its number of entries,
  /// until `body` returns `false`. Returns whether all keys were visited.
  @inline(__always)
  func forEachKey(
    _ cursor: borrowing Cursor, in range: ScanRange, _ body: (Entry, Int) throws -> Bool
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
}

extension KeyTally {
  fileprivate func add(_ count: Int, of candidate: AccessCandidate, in source: QuerySource) {
    switch candidate.accessPath {
    case .index(let index, _, _): add(count, of: source.schema.planName(of: index.schema))
    case .members(let relationship, _): add(count, of: source.schema.planName(of: relationship))
    case .objects, .words, .inverse: break
    }
  }
}

extension ObjectNumber {
  /// Returns whether the object belongs to one of the given concrete entities.
  func isOf(_ family: [EntitySchema]) -> Bool { family.contains { $0.number == entity } }
}
