internal import ArborModel
internal import LMDB

/// Rewrites an index instead of updating it: merges its entries with a commit's changes, both in
/// order, and appends the result.
///
/// Scattered changes copy nearly all pages of a copy-on-write B+ tree and leave them half full. A
/// merge writes fewer, completely filled pages and needs no lookups.
extension IndexMaintainer {
  /// The number of changes below which changes are applied one by one.
  private static var fewChanges: Int { 1 << 10 }
  /// The ratio of entries to changes above which an index is not rewritten, because that takes
  /// longer.
  private static var largestRatio: Int { 16 }
  /// The number of values of one key to append between checks of the limit.
  private static var appendedAtOnce: Int { 1 << 12 }
  private static var sampleCount: Int { 32 }
  /// The number of entries per sample, less than a page holds.
  private static var sampleLength: Int { 64 }

  /// Returns whether a merge is cheaper than individual changes, which is the case if the changes
  /// are spread over most of the index.
  ///
  /// - Parameter before: A reader of the index as it was before the changes.
  func isRewriteWorthwhile(_ before: TransactionReader) throws(LMDBError) -> Bool {
    guard run.count >= Self.fewChanges else { return false }
    let stored = try before.entryCount(index.database)
    // Entries above all stored ones are appended in any case.
    let count = try firstAbove(before)
    guard stored >= Self.fewChanges, count >= Self.fewChanges, count >= stored / Self.largestRatio
    else { return false }
    try before.verifyPages(of: index.database, forChanges: count)
    let cursor = try before.cursor(index.database)
    var (changes, entries) = (0, 0)
    for sample in 0..<Self.sampleCount {
      let start = count * sample / Self.sampleCount
      var passed = 0
      var entry = try run.withKey(run[start]) { (key) throws(LMDBError) in try cursor.seek(key) }
      while entry != nil, passed < Self.sampleLength {
        passed += try cursor.valueCount()
        entry = try cursor.nextKey()
      }
      let end = entry.map { found in run.partitioningIndex { !$0.isBefore(found.key) } } ?? count
      changes += max(1, end - start)
      entries += passed
    }
    // Near the changes, there are `changes` changes per `entries` entries. If that density is at
    // most twice the average of the whole index, the changes are spread over it.
    return 2 * count * entries >= changes * stored
  }

  /// Merges the index with the changes. The parameters are those of `apply`.
  func rewrite(
    _ transaction: borrowing WriteTransaction, from before: TransactionReader,
    without swept: SweptObjects
  ) throws(LMDBError) {
    try before.verifyPages(of: index.database)
    // Most entries stay. Only removals and additions are counted.
    try transaction.clear(index.database, isCounted: false)
    forgetEnd()
    let old = try before.cursor(index.database)
    let new = try transaction.reader.cursor(index.database)
    var runIndex = 0
    var numbers: [UInt64] = []
    var next = try old.first()
    while let entry = next {
      var order = order(of: runIndex, to: entry.key)
      while order == .less {
        runIndex = try append(keyAt: runIndex, to: new).end
        order = self.order(of: runIndex, to: entry.key)
      }
      if order != .equal, try old.valueCount() == 1 {
        if swept.contains(old.number(of: entry)) {
          transaction.countRemoval(index.database, key: entry.key, value: entry.value)
        } else {
          try new.put(key: entry.key, value: entry.value, .append, isCounted: false)
        }
      } else {
        try read(&numbers, of: entry, old, without: swept, transaction)
        if order == .equal {
          runIndex = merge(keyAt: runIndex, into: &numbers) { (number, isRemoval) in
            count(number, of: entry.key, isRemoval: isRemoval, transaction)
          }
        }
        try new.append(key: entry.key, numbers: numbers, isCounted: false)
      }
      next = try old.nextKey()
    }
    while runIndex < run.count { runIndex = try append(keyAt: runIndex, to: new).end }
  }

  /// Reads the numbers of a key that stay, and counts those of swept objects as removed.
  @inline(__always)
  private func read(
    _ numbers: inout [UInt64], of entry: Entry, _ cursor: borrowing Cursor,
    without swept: SweptObjects, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    numbers.removeAll(keepingCapacity: true)
    try cursor.forEachValue(of: entry) { number in
      if swept.contains(number) {
        count(number, of: entry.key, isRemoval: true, transaction)
      } else {
        numbers.append(number)
      }
    }
  }

  /// Applies a removed or added entry to the digest of the index.
  private func count(
    _ number: UInt64, of key: UnsafeRawBufferPointer, isRemoval: Bool,
    _ transaction: borrowing WriteTransaction
  ) {
    transaction.count(number, of: key, in: index.database, isRemoval: isRemoval)
  }

  /// Compares the key of a change with a stored key. Returns `.greater` if there are no more
  /// changes.
  @inline(__always)
  private func order(of runIndex: Int, to key: UnsafeRawBufferPointer) -> Ordering {
    guard runIndex < run.count else { return .greater }
    let entry = run[runIndex]
    let prefix = key.prefixNumber
    if entry.high != prefix { return entry.high < prefix ? .less : .greater }
    return run.withKey(entry) { Ordering(bytes: $0, key) }
  }

  /// Appends the additions of one key.
  ///
  /// - Parameter limit: The limit that ends the writing with `closed`, or `nil` for none.
  /// - Returns: The index after the key's changes, and whether anything was appended.
  func append(
    keyAt start: Int, to cursor: borrowing Cursor, _ limit: WorkLimit? = nil
  ) throws(LMDBError) -> (end: Int, hasAdded: Bool) {
    let end = run.endOfKey(start)
    var hasAdded = false
    for part in stride(from: start, to: end, by: Self.appendedAtOnce) {
      try limit?.checkLMDB()
      appended.removeAll(keepingCapacity: true)
      for index in part..<min(part + Self.appendedAtOnce, end) where !run[index].isRemoval {
        appended.append(run[index].number)
      }
      if appended.isEmpty { continue }
      try run.withKey(run[start]) { (key) throws(LMDBError) in
        try cursor.append(key: key, numbers: appended, isNewKey: !hasAdded)
      }
      hasAdded = true
    }
    return (end, hasAdded)
  }

  /// Applies changes to the numbers of a key. Both are in ascending order.
  ///
  /// - Parameter note: Called with each number that is removed or added, and whether it is removed.
  /// - Returns: The index after the key's changes.
  private func merge(
    keyAt runIndex: Int, into numbers: inout [UInt64], _ note: (UInt64, Bool) -> Void
  ) -> Int {
    let end = run.endOfKey(runIndex)
    var merged: [UInt64] = []
    merged.reserveCapacity(numbers.count + end - runIndex)
    var index = 0
    for runIndex in runIndex..<end {
      let change = run[runIndex]
      while index < numbers.count, numbers[index] < change.number {
        merged.append(numbers[index])
        index += 1
      }
      let isThere = index < numbers.count && numbers[index] == change.number
      if isThere { index += 1 }
      if !change.isRemoval { merged.append(change.number) }
      if isThere == change.isRemoval { note(change.number, isThere) }
    }
    merged += numbers[index...]
    numbers = merged
    return end
  }
}
