internal import ArborFoundation
internal import ArborModel
internal import Dispatch
internal import LMDB

/// Builds the indexes that a migration left unfinished while other threads and processes read and
/// write, like *CREATE INDEX CONCURRENTLY*.
///
/// ```
/// snapshot   gather and sort all entries
/// writer                                  batch ·      batch ·      batch …
/// others      commit · commit · commit ···  waits · commit · waits · commit
/// ```
///
/// Each batch is a write transaction that also records the last entry it has written, so that a
/// build continues there after a crash. Entries are gathered from a snapshot with one scan of the
/// records, as many as fit in memory, and written in order, so that each page of the index is
/// written about once. The history lists the objects that have changed since: the next batch writes
/// their current entries, and commits maintain them from then on. If the history does not list the
/// changes, or lists too many, each object is looked up before its entries are written. Nothing is
/// gathered again, so the build terminates no matter how much is committed in the meantime.
///
/// A batch ends once it has held the writer lock for ``target``, including the time of its commit
/// as estimated from the last one. Other writers get their turn between batches. Several threads
/// and processes may build concurrently: a builder that finds that another one has written entries
/// leaves the work to it.
final class OnlineIndexBuilder {
  /// The time for which a batch should hold the writer lock, in nanoseconds.
  private static let target: UInt64 = 20_000_000
  /// The minimum time that a batch may spend writing, in nanoseconds, however long its commit
  /// takes.
  private static let leastTime: UInt64 = 5_000_000
  /// The number of entries to gather at once, at about 32 bytes each plus the same again while
  /// sorting.
  static let passLength = 1 << 20

  private let store: StoreEngine
  private let limit = WorkLimit()
  private let largestBatch: Int
  private let passLength: Int
  private let maximumChanges: Int
  private var pass: IndexPass?
  /// The number of times entries were gathered.
  private(set) var passCount = 0
  /// The time that the last batch took after its writing, in nanoseconds.
  private var commitTime: UInt64 = 0
  /// The longest time that a batch held the writer lock, in nanoseconds.
  private(set) var longestBatch: UInt64 = 0

  /// - Parameters:
  ///   - largestBatch: The maximum number of entries per batch.
  ///   - maximumChanges: The maximum number of changed objects to look up in one batch.
  init(
    _ store: StoreEngine, largestBatch: Int, passLength: Int = OnlineIndexBuilder.passLength,
    maximumChanges: Int = 1 << 12
  ) {
    self.store = store
    self.passLength = passLength
    self.largestBatch = largestBatch
    self.maximumChanges = maximumChanges
  }

  /// Builds until every index is ready.
  ///
  /// - Parameters:
  ///   - isStopped: Called between batches and while entries are gathered. The build ends once it
  ///     returns `true`.
  ///   - report: Called before each batch with the remaining work.
  /// - Throws: `duplicatesBuilt` if objects share values in a unique index; `interrupted` if the
  ///   task is cancelled; `corrupted`, `diskFull`, `modelChanged` and other errors that prevent a
  ///   commit. The work done so far is kept.
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
      if let build = list.next {
        guard let indexNumber = indexNumber(of: build.index) else {
          throw .corrupted(
            what: "The entry \"\(StoreFormat.indexBuildsKey)\" refers to an index that doesn't "
              + "exist.")
        }
        guard let pass = try pass(for: build, at: indexNumber, snapshot, isStopped) else { return }
        if try fill(build, from: pass, of: list, snapshot) { continue }
      } else if try release(list, snapshot) {
        continue
      }
      pass = nil
      try waitForOther(list, isStopped)
    }
  }

  /// Returns the store-wide number of an index, given its catalog number.
  private func indexNumber(of index: UInt16) -> Int? {
    store.databases.indexes.firstIndex { store.schema.catalogNumber(of: $0.schema) == index }
  }

  // MARK: Filling

  /// Writes a batch. Returns `false` if another builder was faster.
  private func fill(
    _ build: IndexBuildList.Build, from pass: IndexPass, of list: IndexBuildList,
    _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    // The map cannot grow while this thread has a snapshot open.
    snapshot.close()
    let isUnique = pass.maintainer.index.schema.isUnique
    let most = min(largestBatch, pass.rest.count)
    let time = max(Self.leastTime, Self.target - min(Self.target, commitTime))
    var (began, written) = (UInt64(0), UInt64(0))
    var (batch, isLast): (IndexPass.Batch?, Bool) = (nil, false)
    let isDone = try change(list) { (transaction, header, list) throws(StoreError) in
      began = Self.now
      let news = try pass.news(transaction.reader, header)
      let made = try pass.write(most, news, transaction, limit) { Self.now - began >= time }
      isLast = pass.isLast && made.count == pass.rest.count
      if isLast {
        list.finish(build.index, isUnique: isUnique)
      } else if let position = made.position {
        list.advance(build.index, to: position, part: pass.part(with: made.count))
      }
      batch = made
      written = Self.now
      return true
    }
    guard isDone, let batch else {
      self.pass = nil
      return false
    }
    pass.advance(batch)
    let ended = Self.now
    commitTime = ended - written
    longestBatch = max(longestBatch, ended - began)
    if !isLast { rest(after: ended - began) }
    return true
  }

  /// Returns the next entries: those gathered before, unless another builder has written some of
  /// them, or new ones from the snapshot. Returns `nil` if the build was stopped.
  private func pass(
    for build: IndexBuildList.Build, at indexNumber: Int, _ snapshot: StoreSnapshot,
    _ isStopped: () -> Bool
  ) throws(StoreError) -> IndexPass? {
    if let pass, pass.index == build.index, pass.position == build.position, !pass.rest.isEmpty {
      return pass
    }
    pass = nil
    let made = try IndexPass(build, at: indexNumber, snapshot, maximumChanges: maximumChanges)
    passCount += 1
    guard try made.gather(snapshot.reader, passLength, limit, isStopped) else { return nil }
    pass = made
    return made
  }

  /// Pauses so that other writers get their turn, because the writer lock is not fair.
  private func rest(after duration: UInt64) {
    usleep(UInt32(min(5_000, max(200, duration / 4_000))))
  }

  // MARK: Releasing

  /// Releases the unique indexes whose values are unique. All of them are complete, and every
  /// commit maintains them and compares new values with all existing ones, so that unique values
  /// stay unique.
  private func release(
    _ list: IndexBuildList, _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    var violations: [UniquenessViolation] = []
    var ready: [UInt16] = []
    for build in list.builds {
      let schema = store.schema
      let builder = try IndexBuilder(schema, store.databases, store.layouts, storeID: store.id) {
        schema.catalogNumber(of: $0.schema) == build.index
      }
      let found = try builder.violations(snapshot.reader)
      if found.isEmpty { ready.append(build.index) }
      violations += found
    }
    snapshot.close()
    if !ready.isEmpty {
      let isDone = try change(list) { (_, _, list) throws(StoreError) in
        list.remove(ready)
        return true
      }
      guard isDone else { return false }
    }
    guard violations.isEmpty else {
      throw .duplicatesBuilt(violations.map { DuplicateValues($0, store.schema, store.id) })
    }
    return true
  }

  // MARK: Transactions

  /// Changes the list of index builds in a write transaction.
  ///
  /// - Parameters:
  ///   - list: The list for which the change was prepared.
  ///   - body: Changes the list. Returns `false` if nothing is to be written.
  /// - Returns: `false` if another builder has changed the list since, or nothing was to be
  ///   written.
  private func change(
    _ list: IndexBuildList,
    _ body: (borrowing WriteTransaction, HeaderRecord, inout IndexBuildList) throws(StoreError) ->
      Bool
  ) throws(StoreError) -> Bool {
    var isGivenUp = false
    do throws(StoreError) {
      let arbor = store.databases.arbor
      try store.runTransaction { (transaction, header) throws(StoreError) in
        var present = try IndexBuildList.read(header, transaction.reader, arbor)
        isGivenUp = present != list
        if !isGivenUp { isGivenUp = try !body(transaction, header, &present) }
        // Aborts the transaction. The error is caught below.
        if isGivenUp { throw .closed }
        try present.write(&header, arbor, transaction)
      }
    } catch {
      if isGivenUp { return false }
      throw error
    }
    return true
  }

  /// Waits as long as another builder makes progress.
  private func waitForOther(_ list: IndexBuildList, _ isStopped: () -> Bool) throws(StoreError) {
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

  /// A monotonic time in nanoseconds.
  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// The progress of an index that is not ready yet.
package struct IndexBuildStatus: Sendable, Hashable {
  /// The entity that declares the index.
  package let entity: String
  package let index: String
  package let isUnique: Bool
  package let state: IndexBuildList.State
  /// The estimated number of objects in the index, based on the fraction of entries that are
  /// written.
  package let objectsDone: Int
  package let objectCount: Int
}
