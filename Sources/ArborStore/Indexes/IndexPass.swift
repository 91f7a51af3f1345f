internal import ArborModel
internal import LMDB

/// The next entries of one index that is being filled, in their order: all that lie behind a
/// position, or as many as fit into memory, as one snapshot shows them.
final class IndexPass {
  /// An entity, and the index as it has it.
  private struct Target {
    let plan: WritePlan
    let index: WritePlan.Index
  }

  let maintainer: IndexMaintainer
  /// How far the index was filled when the entries were gathered, and up to which entry they are
  /// written by now.
  let index: UInt16
  private(set) var position: IndexBuildList.Position?
  /// The entries that are not written yet, by their indices in the maintainer's run.
  private(set) var rest: Range<Int> = 0..<0
  /// Whether no entries lie behind these.
  private(set) var isLast = true
  /// The commit up to which changed objects are known.
  private var sequence: UInt64
  /// Objects whose entries are all in the index, whatever was gathered of them: commits keep them.
  private var handled: Set<UInt64> = []
  /// Whether nobody knows which objects were changed since the snapshot: each one's entries are
  /// made anew from its record before they are written. That takes longer for an entry, and ends
  /// however fast others commit, as gathering again would not.
  private(set) var isDoubtful = false
  private let mostChanges: Int
  /// Collects the entries of changed objects.
  private let late: IndexMaintainer
  private let targets: [Target]
  private let store: StoreEngine
  /// How many entries lie behind these, and how many the index will have.
  private var (behind, total) = (0, 0)

  /// More commits than these are not looked through for changed objects.
  private static let mostCommits: UInt64 = 1 << 10
  /// So many entries are written between two looks at the clock: fewer where objects are looked up
  /// for it, of which each may have many.
  private static let (chunk, doubtfulChunk) = (1 << 8, 1 << 5)

  /// - Parameter mostChanges: More objects that others have changed are not looked up in one batch.
  init(
    _ build: IndexBuildList.Build, at indexNumber: Int, _ snapshot: StoreSnapshot, mostChanges: Int
  ) throws(StoreError) {
    store = snapshot.store
    self.mostChanges = mostChanges
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

  /// Gathers the entries from the snapshot that the pass was made with.
  ///
  /// - Parameter length: How many entries are gathered at most.
  /// - Returns: false where it was stopped; nothing can be written then.
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

  /// Forgets what is not among the next entries, where there are twice as many.
  private func prune(to length: Int) {
    guard maintainer.run.count >= 2 * length else { return }
    let range = sortedRange(length)
    behind += maintainer.run.count - range.upperBound
    maintainer.keep(range)
  }

  /// Where the next entries lie in the run, which is sorted for it.
  private func sortedRange(_ length: Int) -> Range<Int> {
    maintainer.sort()
    let start = position.map { maintainer.run.partitioningIndex(behind: $0) } ?? 0
    return start..<min(maintainer.run.count, start + length)
  }

  // MARK: Writing

  /// What a batch has to know of commits since the last one.
  struct News {
    let sequence: UInt64
    /// The objects that were changed; nil where nobody knows, or where there are too many.
    let numbers: Set<UInt64>?
  }

  /// What a batch has written.
  struct Batch {
    /// How many of the remaining entries are done.
    fileprivate(set) var count = 0
    /// The entry up to which the index is filled then.
    fileprivate(set) var position: IndexBuildList.Position?
    fileprivate let sequence: UInt64
    fileprivate var isDoubtful = false
    fileprivate var handled: Set<UInt64> = []
  }

  /// Looks which objects were changed since the last batch.
  func news(_ reader: TransactionReader, _ header: HeaderRecord) throws(StoreError) -> News {
    let unknown = News(sequence: header.sequence, numbers: nil)
    guard !isDoubtful, header.sequence - sequence <= Self.mostCommits else { return unknown }
    var numbers: Set<UInt64> = []
    let history = HistoryReader(
      reader: reader, history: store.databases.history, schema: store.schema, header: header)
    for commit in sequence..<header.sequence {
      guard let entry = try history.entry(commit + 1), !entry.isBulk else { return unknown }
      for change in entry.changes where !handled.contains(change.number.rawValue) {
        numbers.insert(change.number.rawValue)
      }
      guard numbers.count <= mostChanges else { return unknown }
    }
    return News(sequence: header.sequence, numbers: numbers)
  }

  /// Writes the first of the remaining entries, and all entries of objects that were changed since
  /// the last batch: what was gathered of those may be wrong, and from now on commits keep them.
  ///
  /// - Parameters:
  ///   - most: How many entries are written at most, of those that were gathered.
  ///   - isDue: Asked between parts of the batch; it ends where it says so.
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

  /// Records that a batch is in the file.
  func advance(_ batch: Batch) {
    rest = rest.dropFirst(batch.count)
    handled.formUnion(batch.handled)
    isDoubtful = batch.isDoubtful
    sequence = batch.sequence
    position = batch.position
  }

  /// The part of the entries that is written with so many more, in 65,536ths.
  func part(with count: Int) -> UInt16 {
    let written = max(0, total - behind - (rest.count - count))
    return total == 0 ? 0 : UInt16(min(Int(UInt16.max), (written << 16) / total))
  }

  /// Writes all entries of some objects, as their records are now.
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
  /// Adds a part of the collected entries, in their order. Those that are there already stay.
  ///
  /// - Parameter isLeftOut: Which objects' entries are not added.
  func add(
    _ range: Range<Int>, _ transaction: borrowing WriteTransaction, _ limit: WorkLimit,
    unless isLeftOut: (UInt64) -> Bool
  ) throws(LMDBError) {
    // Others may have written since.
    forgetEnd()
    let firstAppended = try firstAbove(transaction.reader)
    let cursor = try transaction.reader.cursor(index.database)
    var appended: Int?
    for entryIndex in range {
      let entry = run[entryIndex]
      if isLeftOut(entry.number) { continue }
      try limit.checkEngine()
      let isOfLastKey = appended.map { run.isSameKey(run[$0], entry) } ?? false
      try run.withKey(entry) { (key) throws(LMDBError) in
        if entryIndex < firstAppended {
          _ = try cursor.put(key: key, value: entry.number, .noDuplicate)
        } else {
          _ = try cursor.put(
            key: key, value: entry.number,
            isOfLastKey ? Cursor.BulkMode.appendDuplicate : .append)
        }
      }
      if entryIndex >= firstAppended { appended = entryIndex }
    }
    forgetEnd()
  }
}
