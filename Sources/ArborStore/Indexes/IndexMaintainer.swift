internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Maintains one index: collects the entries that a commit adds and removes, and writes them.
///
/// Used only by the thread that leads the group commit. Reused across commits.
final class IndexMaintainer {
  let index: StoreDatabases.Index
  private(set) var run = EntryRun()
  /// The objects whose key in a unique index was truncated, so that their records have to be
  /// compared. Sorted together with the run.
  private(set) var cutClaims: [ObjectNumber] = []
  /// Whether entries of deleted objects are removed in a pass over the index instead of being
  /// collected.
  var isSwept = false
  private var key = KeyBuffer()
  private var oldKey = KeyBuffer()
  private let filter: IndexFilter?
  private var tokens = TextTokens()
  private var oldTokens = TextTokens()
  private var greatestKey = GreatestKey()
  /// A reusable buffer for the numbers of an appended key.
  var appended: [UInt64] = []

  init(_ index: StoreDatabases.Index, filter: IndexFilter?) {
    self.index = index
    self.filter = filter
  }

  /// Returns the maintainers of all indexes of a store, by index number.
  static func all(
    of databases: StoreDatabases, _ schema: ModelSchema, storeID: UUID
  ) throws(StoreError) -> [IndexMaintainer] {
    try databases.indexes.map { (index) throws(StoreError) in
      IndexMaintainer(index, filter: try IndexFilter(index.schema, schema, storeID: storeID))
    }
  }

  var isEmpty: Bool { run.isEmpty && cutClaims.isEmpty && !isSwept }

  /// Whether the index has a condition.
  var isPartial: Bool { filter != nil }

  func removeAll() {
    run.removeAll()
    cutClaims.removeAll()
    isSwept = false
  }

  func reserve(_ more: Int) { run.reserve(more) }

  /// Removes all entries except a range of the sorted run.
  func keep(_ range: Range<Int>) { run.keep(range) }

  /// Discards the cached greatest key, because another process may have written.
  func forgetEnd() { greatestKey.forget() }

  // MARK: Collecting

  /// Collects the changes of an object's entries.
  @inline(__always)
  func collect(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, plan: WritePlan.Index
  ) {
    if plan.isPlain {
      collectKey(number, old: old, new: new, plan)
    } else {
      collectSelected(number, old: old, new: new, plan)
    }
  }

  /// Collects the changes for an index that is partial or has several keys for a record. A record
  /// that doesn't satisfy the condition has no entries.
  @inline(never)
  private func collectSelected(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, _ plan: WritePlan.Index
  ) {
    let old = old.flatMap { isSelected($0, number) ? $0 : nil }
    let new = new.flatMap { isSelected($0, number) ? $0 : nil }
    if plan.isText {
      collectTokens(number, old: old, new: new, plan)
    } else if let path = plan.elements {
      collectElements(of: path, number, old: old, new: new, plan)
    } else {
      collectKey(number, old: old, new: new, plan)
    }
  }

  private func isSelected(_ record: RecordView, _ number: ObjectNumber) -> Bool {
    filter?.holds(record, number) ?? true
  }

  /// Collects the tokens that are added and removed. Unchanged tokens are skipped.
  private func collectTokens(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, _ plan: WritePlan.Index
  ) {
    let field = plan.fields[0]
    if let old, let new, !old.differs(from: new, field) { return }
    Self.read(field, of: old, into: &oldTokens)
    Self.read(field, of: new, into: &tokens)
    var entryIndex = 0
    var oldIndex = 0
    while entryIndex < tokens.count || oldIndex < oldTokens.count {
      var order: Ordering = entryIndex < tokens.count ? .less : .greater
      if entryIndex < tokens.count, oldIndex < oldTokens.count {
        order = tokens.withToken(entryIndex) { token in
          oldTokens.withToken(oldIndex) { Ordering(bytes: token, $0) }
        }
      }
      if order == .less {
        tokens.withToken(entryIndex) { KeyEncoder.setToken($0, to: &key) }
        run.append(key.bytes, number, isRemoval: false, isExempt: true)
      } else if order == .greater {
        oldTokens.withToken(oldIndex) { KeyEncoder.setToken($0, to: &key) }
        run.append(key.bytes, number, isRemoval: true, isExempt: true)
      }
      if order != .greater { entryIndex += 1 }
      if order != .less { oldIndex += 1 }
    }
  }

  /// Collects the keys of list elements that are added and removed. Elements whose keys are equal when
  /// they are truncated have one entry.
  private func collectElements(
    of path: CodablePath, _ number: ObjectNumber, old: RecordView?, new: RecordView?,
    _ plan: WritePlan.Index
  ) {
    let field = plan.fields[0]
    if let old, let new, !old.differs(from: new, field) { return }
    let before = elementKeys(of: path, field, old)
    let after = elementKeys(of: path, field, new)
    for key in after.subtracting(before).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      key.withUnsafeBytes { run.append($0, number, isRemoval: false, isExempt: true) }
    }
    for key in before.subtracting(after).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      key.withUnsafeBytes { run.append($0, number, isRemoval: true, isExempt: true) }
    }
  }

  private func elementKeys(
    of path: CodablePath, _ field: RecordField, _ record: RecordView?
  ) -> Set<[UInt8]> {
    guard let record, !record.isNull(field), let kind = path.elementKind else { return [] }
    return Set(
      path.indexedElements(in: record.bytes(field)).compactMap { element in
        key.removeAll()
        return KeyEncoder.append(element, as: kind, to: &key) ? Array(key.bytes) : nil
      })
  }

  private static func read(
    _ field: RecordField, of record: RecordView?, into tokens: inout TextTokens
  ) {
    guard let record, !record.isNull(field) else { return tokens.read("") }
    tokens.read(record.bytes(field))
    tokens.sortDistinct(cutAt: KeyEncoder.tokenLimit)
  }

  @inline(__always)
  private func collectKey(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, _ plan: WritePlan.Index
  ) {
    if let old, let new, !plan.fields.contains(where: { old.differs(from: new, $0) }) { return }
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

  func sort() {
    run.sort()
    if !cutClaims.isEmpty { cutClaims.sort() }
  }

  /// Returns whether an object is among the ``cutClaims``.
  ///
  /// - Complexity: Logarithmic.
  func claimsCutKey(_ number: ObjectNumber) -> Bool {
    let entryIndex = cutClaims.partitioningIndex { $0 >= number }
    return entryIndex < cutClaims.count && cutClaims[entryIndex] == number
  }

  /// Calls `body` with the key of a record.
  func withKey<R, E: Error>(
    of record: RecordView, _ plan: WritePlan.Index, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    plan.keys.key(of: record, into: &key)
    return try body(key.bytes)
  }

  /// Returns a record's untruncated key in a unique index, or `nil` if the constraint doesn't apply
  /// to the record.
  func wholeKey(
    of record: RecordView, _ number: ObjectNumber, _ plan: WritePlan.Index
  ) -> [UInt8]? {
    guard isSelected(record, number), !plan.fields.contains(where: { record.isNull($0) }) else {
      return nil
    }
    var whole = KeyBuffer(limit: .max)
    plan.keys.key(of: record, into: &whole)
    return Array(whole.bytes)
  }

  // MARK: Writing

  /// Writes the collected changes. Removals come first, so that values can be swapped.
  ///
  /// - Parameters:
  ///   - before: A reader of the index as it was before the changes, independent of the
  ///     transaction, or `nil` if there isn't one.
  ///   - swept: Objects whose entries are all removed. Requires `before`.
  ///   - limit: The limit that ends the writing with `closed`, or `nil` for none.
  func apply(
    _ transaction: borrowing WriteTransaction, before: TransactionReader? = nil,
    without swept: SweptObjects = SweptObjects(), limit: WorkLimit? = nil
  ) throws(LMDBError) {
    if let before {
      let isRewritten = isSwept ? true : try isRewriteWorthwhile(before)
      if isRewritten { return try rewrite(transaction, from: before, without: swept) }
      try transaction.reader.verifyPages(
        of: index.database, forChanges: firstAbove(transaction.reader))
    }
    let database = index.database
    var (additions, lastAddition) = (0, 0)
    for entryIndex in 0..<run.count {
      let entry = run[entryIndex]
      guard entry.isRemoval else {
        (additions, lastAddition) = (additions + 1, entryIndex)
        continue
      }
      try run.withKey(entry) { (key) throws(LMDBError) in
        _ = try transaction.delete(database, key: key, number: entry.number)
      }
    }
    if additions == 1 {
      try addAlone(lastAddition, transaction, database)
    } else if additions > 1 {
      try add(transaction, database, limit)
    }
  }

  /// Adds a single entry without a cursor, whose creation costs more than the search it saves.
  private func addAlone(
    _ entryIndex: Int, _ transaction: borrowing WriteTransaction, _ database: Database
  ) throws(LMDBError) {
    let isAbove = try entryIndex >= firstAbove(transaction.reader)
    let entry = run[entryIndex]
    try run.withKey(entry) { (key) throws(LMDBError) in
      try transaction.put(
        database, key: key, number: entry.number, isAbove ? .append : .noDuplicate)
      if isAbove { greatestKey.note(key) }
    }
  }

  /// Adds entries. Those above the last key are appended, which fills pages completely.
  private func add(
    _ transaction: borrowing WriteTransaction, _ database: Database, _ limit: WorkLimit?
  ) throws(LMDBError) {
    var start = try firstAbove(transaction.reader)
    var greatest: Int?
    let cursor = try transaction.reader.cursor(database)
    for entryIndex in 0..<min(start, run.count) where !run[entryIndex].isRemoval {
      let entry = run[entryIndex]
      try limit?.checkLMDB()
      try run.withKey(entry) { (key) throws(LMDBError) in
        _ = try cursor.put(key: key, number: entry.number, .noDuplicate)
      }
    }
    while start < run.count {
      let (end, hasAdded) = try append(keyAt: start, to: cursor, limit)
      if hasAdded { greatest = start }
      start = end
    }
    if let greatest { run.withKey(run[greatest]) { greatestKey.note($0) } }
  }

  /// Returns the index of the first entry whose key is greater than all stored keys.
  func firstAbove(_ reader: TransactionReader) throws(LMDBError) -> Int {
    if !greatestKey.isKnown { greatestKey.note(try reader.cursor(index.database).last()?.key) }
    return run.partitioningIndex { greatestKey.isBefore($0) }
  }
}
