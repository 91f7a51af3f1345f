internal import ArborModel
internal import LMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Fills the indexes that a migration left unfinished while everybody else reads and writes, as
/// *CREATE INDEX CONCURRENTLY* does.
///
/// ```
/// snapshot   gather and sort a batch ─┐         gather ─┐
/// writer                              └─ write, note ──┘ └─ write, note …
/// others      commit · commit ·········  waits  · commit · commit
/// ```
///
/// Each batch is a write transaction of its own, with the number of its last object: after a crash
/// the next one goes on there. What a batch consists of is gathered from a snapshot, and anew in
/// the transaction only where one of its objects was changed in between. So the writer is held for
/// as long as it takes to write a batch, and batches are made as large as ``target`` allows.
///
/// Several threads and processes may build at once: whoever finds that another one was faster lets
/// that one go on.
final class OnlineIndexBuilder {
  /// So long, in nanoseconds, a batch should hold the writer.
  private static let target: UInt64 = 20_000_000
  private static let firstBatch = 1 << 11
  private static let leastBatch = 1 << 6
  /// More commits than these behind a snapshot are not looked through for changed objects.
  private static let mostCommits: UInt64 = 256

  private let store: StoreFile
  private let limit = WorkLimit()
  private var batchSize: Int
  private let largestBatch: Int
  private var current: (indexes: [UInt16], builder: IndexBuilder)?

  /// - Parameter largestBatch: How many objects a batch has at most.
  init(_ store: StoreFile, largestBatch: Int) {
    self.store = store
    self.largestBatch = largestBatch
    batchSize = min(Self.firstBatch, largestBatch)
  }

  /// Builds until every index is ready.
  ///
  /// - Parameters:
  ///   - isStopped: Asked between batches; the build ends where it says so.
  ///   - report: Called before each batch, with what is left to do.
  /// - Throws: `duplicatesBuilt` where objects share values in a unique index; `interrupted` where
  ///   the task is cancelled; `corrupted`, `diskFull`, `modelChanged` and what else keeps a commit
  ///   from being written. What was done until then stays.
  func run(
    isStopped: () -> Bool = { false },
    reportingTo report: (@Sendable ([IndexBuildStatus]) -> Void)? = nil
  ) throws(StoreError) {
    while !isStopped() {
      try limit.checkStoreNow()
      let snapshot = try store.snapshot()
      defer { snapshot.close() }
      guard let unfinished = snapshot.unfinishedIndexes else { return }
      report?(try snapshot.indexBuilds())
      let list = unfinished.list
      if try step(list, snapshot) { continue }
      try waitForOther(list, isStopped)
    }
  }

  /// - Returns: false where another builder was faster.
  private func step(
    _ list: IndexBuildList, _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    if let round = list.round { return try fill(round, of: list, snapshot) }
    return try release(list, snapshot)
  }

  // MARK: Filling

  private func fill(
    _ round: IndexBuildList.Round, of list: IndexBuildList, _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    let builder = try builder(of: round.indexes)
    defer { builder.removeAll() }
    let sequence = snapshot.sequence
    let size = batchSize
    var end = try builder.gather(
      snapshot.reader, above: round.filled, upTo: round.bound, atMost: size)
    // The map cannot grow while this thread has a snapshot.
    snapshot.close()
    builder.sort()
    var began = Self.now
    let isDone = try change(list) { (transaction, header, list) throws(StoreError) in
      began = Self.now
      let isChanged = try hasChanges(
        in: round.filled..<end, since: sequence, transaction.reader, header)
      if isChanged {
        builder.removeAll()
        end = try builder.gather(
          transaction.reader, above: round.filled, upTo: round.bound, atMost: size)
        builder.sort()
      }
      try builder.apply(transaction)
      list.advance(round, to: end, isUnique: isUnique)
    }
    if isDone { adapt(to: Self.now &- began) }
    return isDone
  }

  private func builder(of indexes: [UInt16]) throws(StoreError) -> IndexBuilder {
    if let current, current.indexes == indexes { return current.builder }
    let schema = store.schema
    let builder = try IndexBuilder(schema, store.databases, store.layouts, storeID: store.id) {
      indexes.contains(schema.catalogNumber(of: $0.schema))
    }
    current = (indexes, builder)
    return builder
  }

  private func isUnique(_ index: UInt16) -> Bool {
    store.databases.indexes.contains {
      $0.schema.isUnique && store.schema.catalogNumber(of: $0.schema) == index
    }
  }

  /// Whether an object of a range, above its lower bound, was changed after a commit.
  private func hasChanges(
    in range: Range<UInt64>, since sequence: UInt64, _ reader: TransactionReader,
    _ header: HeaderRecord
  ) throws(StoreError) -> Bool {
    guard header.sequence > sequence else { return false }
    guard header.sequence - sequence <= Self.mostCommits else { return true }
    let history = HistoryReader(reader, store, header: header)
    for commit in sequence + 1...header.sequence {
      guard let entry = try history.entry(commit), !entry.isBulk else { return true }
      let first = entry.changes.first { $0.number.rawValue > range.lowerBound }
      if let first, first.number.rawValue <= range.upperBound { return true }
    }
    return false
  }

  /// Makes batches larger or smaller, towards the time that they should take.
  private func adapt(to duration: UInt64) {
    let factor = min(2, max(0.25, Double(Self.target) / Double(max(1, duration))))
    batchSize = min(largestBatch, max(Self.leastBatch, Int(Double(batchSize) * factor)))
  }

  // MARK: Releasing

  /// Makes the unique indexes ready whose values are unique. All of them are filled, and kept by
  /// every commit, which compares new values with all others: what is unique stays so.
  private func release(
    _ list: IndexBuildList, _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    var violations: [UniquenessViolation] = []
    var ready: [UInt16] = []
    for build in list.builds {
      let builder = try builder(of: [build.index])
      let found = try builder.violations(snapshot.reader)
      if found.isEmpty { ready.append(build.index) }
      violations += found
    }
    snapshot.close()
    if !ready.isEmpty {
      let isDone = try change(list) { (_, _, list) throws(StoreError) in list.remove(ready) }
      guard isDone else { return false }
    }
    guard violations.isEmpty else {
      throw .duplicatesBuilt(
        violations.map { DuplicateValues($0, store.schema, store.id) })
    }
    return true
  }

  // MARK: Transactions

  /// Changes the list in a write transaction.
  ///
  /// - Parameter list: As it was when the change was prepared.
  /// - Returns: false where another builder has changed it since; nothing is written then.
  private func change(
    _ list: IndexBuildList,
    _ body: (borrowing WriteTransaction, HeaderRecord, inout IndexBuildList) throws(StoreError) ->
      Void
  ) throws(StoreError) -> Bool {
    var isOvertaken = false
    do throws(StoreError) {
      let arbor = store.databases.arbor
      try store.write { (transaction, header) throws(StoreError) in
        var present = try IndexBuildList.read(header, transaction.reader, arbor)
        isOvertaken = present != list
        // Nothing is to be committed; the word is not heard outside.
        if isOvertaken { throw .closed }
        try body(transaction, header, &present)
        try present.write(&header, arbor, transaction)
      }
    } catch {
      if isOvertaken { return false }
      throw error
    }
    return true
  }

  /// Waits for as long as another builder goes on.
  private func waitForOther(
    _ list: IndexBuildList, _ isStopped: () -> Bool
  ) throws(StoreError) {
    var last = list
    while true {
      for _ in 0..<10 {
        try limit.checkStoreNow()
        if isStopped() { return }
        usleep(20_000)
      }
      let snapshot = try store.snapshot()
      defer { snapshot.close() }
      guard let present = snapshot.unfinishedIndexes?.list, present != last else { return }
      last = present
    }
  }

  /// Nanoseconds since some moment, by a clock that nobody sets.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
