internal import ArborModel
internal import LMDB

/// The next entries of an unfinished index in order: all entries of one snapshot after a position,
/// or as many as fit in memory.
final class IndexPass {
  /// An entity and its version of the index.
  private struct Target {
    let plan: WritePlan
    let index: WritePlan.Index
  }

  let maintainer: IndexMaintainer
  /// The catalog number of the index.
  let index: UInt16
  /// The last entry that has been written, or `nil` if there isn't one.
  private(set) var position: IndexBuildList.Position?
  /// The entries that are not written yet, as indices of the maintainer's run.
  private(set) var rest: Range<Int> = 0..<0
  /// Whether there are no entries after ``rest``.
  private(set) var isLast = true
  /// The sequence number of the last commit whose changed objects have been read.
  private var sequence: UInt64
  /// Objects whose entries are complete in the index. Gathered entries are ignored for them,
  /// because commits maintain them.
  private var handled: Set<UInt64> = []
  /// Whether it is unknown which objects have changed since the snapshot. In that case, the entries
  /// of each object are rebuilt from its record before they are written. This takes longer per
  /// entry but, unlike gathering again, terminates no matter how fast other writers commit.
  private(set) var isDoubtful = false
  private let maximumChanges: Int
  /// The maintainer that collects the entries of changed objects.
  private let late: IndexMaintainer
  private let targets: [Target]
  private let store: StoreEngine
  /// The number of entries after ``rest``, and the expected total of the index.
  private var (behind, total) = (0, 0)

  /// The maximum number of commits to search for changed objects.
  private static let maximumCommits: UInt64 = 1 << 10
  /// The numbers of entries to write between two checks of the clock: normally, and if objects have
  /// to be looked up, each of which may have many entries.
  private static let (chunk, doubtfulChunk) = (1 << 8, 1 << 5)

  /// - Parameter maximumChanges: The maximum number of changed objects to look up in one batch.
  init(
    _ build: IndexBuildList.Build, at indexNumber: Int, _ snapshot: StoreSnapshot,
    maximumChanges: Int
  ) throws(StoreError) {
    store = snapshot.store
    self.maximumChanges = maximumChanges
    (index, position, sequence) = (build.index, build.position, snapshot.sequence)
    let stored = store.databases.indexes[indexNumber]
    let filter = try IndexFilter(stored.schema, store.schema, storeID: store.id)
    maintainer = IndexMaintainer(stored, filter: filter)
    late = IndexMaintainer(stored, filter: filter)
    targets = store.schema.concreteEntities.compactMap { [store] entity in
      store.plans[entity.index].flatMap { plan in
        plan.indexes.first { $0.number == indexNumber }.map { Target(plan: plan, index: $0) }
      }
    }
  }

  // MARK: Gathering

  /// Gathers the entries from the snapshot that the pass was created with.
  ///
  /// - Parameter length: The maximum number of entries.
  /// - Returns: `false` if gathering was stopped, in which case nothing may be written.
  func gather(
    _ reader: TransactionReader, _ length: Int, _ limit: WorkLimit, _ isStopped: () -> Bool
  ) throws(StoreError) -> Bool {
    var (count, isEnded) = (0, false)
    do throws(StoreError) {
      for target in targets {
        let scan = RecordScan(
          entity: target.plan.entity, records: target.plan.records, layouts: store.layouts)
        try scan.forEach(reader, limit) { (number, record) throws(StoreError) in
          maintainer.collect(number, old: nil, new: record, plan: target.index)
          count += 1
          if count.isMultiple(of: 1 << 12) { isEnded = isStopped() }
          if isEnded { throw .interrupted(.cancelled) }
          prune(to: length)
        }
      }
    } catch {
      if isEnded { return false }
      throw error
    }
    rest = sortedRange(length)
    behind += maintainer.run.count - rest.upperBound
    isLast = behind == 0
    let written = try storing(reader.entryCount(maintainer.index.database))
    total = written + rest.count + behind
    return true
  }

  /// Discards the entries after the next `length` ones once twice as many have been gathered.
  private func prune(to length: Int) {
    guard maintainer.run.count >= 2 * length else { return }
    let range = sortedRange(length)
    behind += maintainer.run.count - range.upperBound
    maintainer.keep(range)
  }

  /// Sorts the run and returns the range of the next entries.
  private func sortedRange(_ length: Int) -> Range<Int> {
    maintainer.sort()
    let start = position.map { maintainer.run.partitioningIndex(behind: $0) } ?? 0
    return start..<min(maintainer.run.count, start + length)
  }

  // MARK: Writing

  /// The commits since the last batch.
  struct News {
    let sequence: UInt64
    /// The changed objects, or `nil` if they are unknown or too many.
    let numbers: Set<UInt64>?
  }

  /// The result of writing a batch.
  struct Batch {
    /// The number of remaining entries that were processed.
    fileprivate(set) var count = 0
    /// The last entry that is in the index after the batch.
    fileprivate(set) var position: IndexBuildList.Position?
    fileprivate let sequence: UInt64
    fileprivate var isDoubtful = false
    fileprivate var handled: Set<UInt64> = []
  }

  /// Returns the commits since the last batch, with the objects that they have changed.
  func news(_ reader: TransactionReader, _ header: HeaderRecord) throws(StoreError) -> News {
    let unknown = News(sequence: header.sequence, numbers: nil)
    guard !isDoubtful, header.sequence - sequence <= Self.maximumCommits else { return unknown }
    var numbers: Set<UInt64> = []
    let history = HistoryReader(
      reader: reader, history: store.databases.history, schema: store.schema, header: header)
    for commit in sequence..<header.sequence {
      guard let entry = try history.entry(commit + 1), !entry.isBulk else { return unknown }
      for change in entry.changes where !handled.contains(change.number.rawValue) {
        numbers.insert(change.number.rawValue)
      }
      guard numbers.count <= maximumChanges else { return unknown }
    }
    return News(sequence: header.sequence, numbers: numbers)
  }

  /// Writes the first of the remaining entries, and all entries of objects that have changed since
  /// the last batch. Gathered entries of these objects may be outdated, and commits maintain them
  /// from now on.
  ///
  /// - Parameters:
  ///   - most: The maximum number of gathered entries to write.
  ///   - isDue: Called between parts of the batch. The batch ends once it returns `true`.
  func write(
    _ most: Int, _ news: News, _ transaction: borrowing WriteTransaction, _ limit: WorkLimit,
    until isDue: () -> Bool
  ) throws(StoreError) -> Batch {
    var batch = Batch(position: position, sequence: news.sequence, isDoubtful: news.numbers == nil)
    if let numbers = news.numbers {
      try writeAnew(numbers, transaction, limit)
      batch.handled = numbers
    }
    let chunk = batch.isDoubtful ? Self.doubtfulChunk : Self.chunk
    repeat {
      let part = rest.dropFirst(batch.count).prefix(min(chunk, most - batch.count))
      if batch.isDoubtful {
        let numbers = Set(part.lazy.map { self.maintainer.run[$0].number })
          .subtracting(handled).subtracting(batch.handled)
        try writeAnew(numbers, transaction, limit)
        batch.handled.formUnion(numbers)
      }
      try storing(limit) { () throws(LMDBError) in
        try maintainer.add(part, transaction, limit) {
          handled.contains($0) || batch.handled.contains($0)
        }
      }
      batch.count += part.count
    } while batch.count < most && !isDue()
    if let last = rest.prefix(batch.count).last {
      let entry = maintainer.run[last]
      batch.position = maintainer.run.withKey(entry) {
        IndexBuildList.Position(key: Array($0), number: entry.number)
      }
    }
    return batch
  }

  /// Records that a batch has been committed.
  func advance(_ batch: Batch) {
    rest = rest.dropFirst(batch.count)
    handled.formUnion(batch.handled)
    isDoubtful = batch.isDoubtful
    sequence = batch.sequence
    position = batch.position
  }

  /// Returns the fraction of all entries that is written after `count` more, in units of 1/65,536.
  func part(with count: Int) -> UInt16 {
    let written = max(0, total - behind - (rest.count - count))
    return total == 0 ? 0 : UInt16(min(Int(UInt16.max), (written << 16) / total))
  }

  /// Writes all entries of the given objects from their current records.
  private func writeAnew(
    _ numbers: Set<UInt64>, _ transaction: borrowing WriteTransaction, _ limit: WorkLimit
  ) throws(StoreError) {
    if numbers.isEmpty { return }
    defer { late.removeAll() }
    try collect(numbers, transaction.reader)
    try storing(limit, late.apply(transaction, limit: limit))
  }

  private func collect(_ numbers: Set<UInt64>, _ reader: TransactionReader) throws(StoreError) {
    late.forgetEnd()
    let allocator = SlabAllocator(slabSize: 4 << 10)
    for raw in numbers.sorted() {
      let number = ObjectNumber(rawValue: raw)
      guard let target = targets.first(where: { $0.plan.entity.number == number.entity }),
        let record = try reader.record(
          number, of: target.plan.entity, in: target.plan.records, store.layouts, allocator)
      else { continue }
      late.collect(number, old: nil, new: record, plan: target.index)
    }
    late.sort()
  }
}

extension IndexMaintainer {
  /// Adds a range of the collected entries in order. Entries that already exist are kept.
  ///
  /// - Parameter isLeftOut: Returns whether an object's entries are skipped.
  func add(
    _ range: Range<Int>, _ transaction: borrowing WriteTransaction, _ limit: WorkLimit,
    unless isLeftOut: (UInt64) -> Bool
  ) throws(LMDBError) {
    // Other writers may have committed since.
    forgetEnd()
    let firstAppended = try firstAbove(transaction.reader)
    let cursor = try transaction.reader.cursor(index.database)
    var appended: Int?
    for entryIndex in range {
      let entry = run[entryIndex]
      if isLeftOut(entry.number) { continue }
      try limit.checkLMDB()
      let isOfLastKey = appended.map { run.isSameKey(run[$0], entry) } ?? false
      try run.withKey(entry) { (key) throws(LMDBError) in
        if entryIndex < firstAppended {
          _ = try cursor.put(key: key, number: entry.number, .noDuplicate)
        } else {
          _ = try cursor.put(
            key: key, number: entry.number,
            isOfLastKey ? Cursor.BulkMode.appendDuplicate : .append)
        }
      }
      if entryIndex >= firstAppended { appended = entryIndex }
    }
    forgetEnd()
  }
}
