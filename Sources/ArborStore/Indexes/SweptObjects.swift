internal import ArborModel
internal import LMDB

/// Objects that a commit deletes in such large numbers that their entries are removed by number in
/// one pass over each index or relationship, instead of encoding and sorting their keys.
struct SweptObjects {
  /// The objects of one entity, as a bitmap that starts at the first number.
  private struct Stretch {
    let first: UInt64
    let count: UInt64
    var words: [UInt64]
  }

  private var stretches: [Stretch] = []

  /// The maximum average distance between the numbers of deleted objects.
  private static let maximumAverageDistance = 64

  var isEmpty: Bool { stretches.isEmpty }

  mutating func removeAll() { stretches.removeAll() }

  /// Adds the deletions among the changes of one entity, which must be in the order of their
  /// numbers. Returns `false` and adds nothing if they are too far apart.
  mutating func insert(
    deletionsOf changes: ArraySlice<ChangeSet.RecordChange>, count: Int
  ) -> Bool {
    guard let first = changes.first?.number.rawValue, let last = changes.last?.number.rawValue,
      last - first < UInt64(count) * UInt64(Self.maximumAverageDistance)
    else { return false }
    let numbers = last - first + 1
    var words = [UInt64](repeating: 0, count: Int(numbers / 64) + 1)
    for change in changes where change.record == nil {
      let bit = change.number.rawValue - first
      words[Int(bit / 64)] |= 1 << (bit % 64)
    }
    stretches.append(Stretch(first: first, count: numbers, words: words))
    return true
  }

  @inline(__always)
  func contains(_ number: UInt64) -> Bool {
    for stretch in stretches {
      // Numbers of other entities are outside the range.
      let bit = number &- stretch.first
      if bit < stretch.count { return stretch.words[Int(bit / 64)] >> (bit % 64) & 1 == 1 }
    }
    return false
  }

  /// Rewrites a database of keys and object numbers from its contents in `before`, without these
  /// objects.
  func drop(
    from database: Database, _ transaction: borrowing WriteTransaction, _ before: TransactionReader
  ) throws(LMDBError) {
    // Most entries stay. Only the removals are counted.
    try transaction.clear(database, isCounted: false)
    let old = try before.cursor(database)
    let new = try transaction.reader.cursor(database)
    var next = try old.first()
    var numbers: [UInt64] = []
    while let entry = next {
      numbers.removeAll(keepingCapacity: true)
      try old.forEachValue(of: entry) { number in
        guard contains(number) else { return numbers.append(number) }
        transaction.count(number, of: entry.key, in: database, isRemoval: true)
      }
      try new.append(key: entry.key, numbers: numbers, isCounted: false)
      next = try old.nextKey()
    }
  }
}

extension Cursor {
  /// Calls `body` with all numbers of the key that the cursor has just moved to.
  @inline(__always)
  func forEachValue(
    of entry: Entry, _ body: (UInt64) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    guard try valueCount() > 1 else { return try body(number(of: entry)) }
    var batch = try firstNumbers(entry.key)
    while let numbers = batch {
      for number in numbers { try body(number) }
      batch = try nextNumbers()
    }
  }
}
