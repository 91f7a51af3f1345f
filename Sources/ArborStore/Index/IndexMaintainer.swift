internal import ArborModel
internal import LMDB

/// Keeps one index in step with the records: collects what a commit changes, judges uniqueness,
/// and writes.
///
/// It is used by whoever leads the commits, and reused from commit to commit.
final class IndexMaintainer {
  let index: StoreDatabases.Index
  private(set) var run = EntryRun()
  /// Objects whose key is too long to be judged by itself; only for unique indexes.
  private(set) var cutClaims: [ObjectNumber] = []
  private var key = KeyBuffer()
  private var oldKey = KeyBuffer()

  init(_ index: StoreDatabases.Index) { self.index = index }

  var isEmpty: Bool { run.isEmpty && cutClaims.isEmpty }

  func removeAll() {
    run.removeAll()
    cutClaims.removeAll()
  }

  func reserve(_ more: Int) { run.reserve(more) }

  // MARK: Collecting

  /// Notes what becomes of an object's entry. Objects come in the order of their numbers.
  @inline(__always)
  func collect(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, plan: EntityPlan.Index
  ) {
    if let old, let new, plan.fields.allSatisfy({ old.isSame($0, as: new) }) { return }
    if let old { plan.keys.key(of: old, into: &oldKey) }
    if let new {
      plan.keys.key(of: new, into: &key)
      if key.isCut, plan.isUnique { cutClaims.append(number) }
      if old != nil, oldKey.bytes.elementsEqual(key.bytes) { return }
      let isExempt = key.isCut || (plan.isUnique && plan.fields.contains { new.isNull($0) })
      run.append(key.bytes, number, isRemoval: false, isExempt: isExempt)
    }
    if old != nil { run.append(oldKey.bytes, number, isRemoval: true, isExempt: false) }
  }

  func sort() { run.sort() }

  /// Lends the key of a record.
  func withKey<R, E: Error>(
    of record: RecordView, _ plan: EntityPlan.Index,
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    plan.keys.key(of: record, into: &key)
    return try body(key.bytes)
  }

  // MARK: Writing

  /// Writes the collected changes: removals first, so that values can be swapped.
  func apply(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    let database = index.database
    var additions = 0
    for place in 0..<run.count {
      let entry = run[place]
      guard entry.isRemoval else {
        additions += 1
        continue
      }
      try run.withKey(entry) { (key) throws(LMDBError) in
        _ = try transaction.delete(database, key: key, value: entry.number)
      }
    }
    if additions > 0 { try add(transaction, database) }
  }

  /// Entries above the last key are appended, which fills pages completely.
  private func add(
    _ transaction: borrowing WriteTransaction, _ database: Database
  ) throws(LMDBError) {
    let cursor = try transaction.cursor(database)
    var start = try firstAbove(cursor)
    for place in 0..<min(start, run.count) where !run[place].isRemoval {
      let entry = run[place]
      try run.withKey(entry) { (key) throws(LMDBError) in
        _ = try cursor.put(key: key, value: entry.number, .noDuplicate)
      }
    }
    while start < run.count {
      let end = run.endOfKey(start)
      var mode = Cursor.BulkMode.append
      for place in start..<end where !run[place].isRemoval {
        let entry = run[place]
        try run.withKey(entry) { (key) throws(LMDBError) in
          _ = try cursor.put(key: key, value: entry.number, mode)
        }
        mode = .appendDuplicate
      }
      start = end
    }
  }

  /// The place of the first entry whose key is above all stored ones.
  func firstAbove(_ cursor: borrowing Cursor) throws(LMDBError) -> Int {
    guard let last = try cursor.last() else { return 0 }
    return run.firstPlace { last.key.isBefore($0) }
  }
}
