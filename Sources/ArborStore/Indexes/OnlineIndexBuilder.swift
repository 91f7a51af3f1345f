internal import ArborModel
internal import Foundation
internal import LMDB

/// Fills the indexes that a migration left unfinished while everybody else reads and writes, as
/// *CREATE INDEX CONCURRENTLY* does.
///
/// ```
/// snapshot   gather and sort all entries
/// writer                                  batch ·      batch ·      batch …
/// others      commit · commit · commit ···  waits · commit · waits · commit
/// ```
///
/// Each batch is a write transaction of its own, with the last entry that it has written: after a
/// crash the next one goes on there. Entries are written in their order, so that each page of the
/// index is written about once; they are gathered from a snapshot, as many as fit into memory, with
/// one scan of the records. Objects that were changed since are known by the history: the next
/// batch writes their entries as they are by then, and commits keep them from then on. Where the
/// history does not list the changes, or lists very many, each object that is next is looked up
/// before its entries are written; nothing is gathered again, so that the build ends however much
/// others commit.
///
/// A batch ends when it has held the writer for ``target``, what its commit takes included as far
/// as the last one tells, and others get their turn between batches. Several threads and processes
/// may build at once: a builder that finds that another one was faster lets that one go on.
final class OnlineIndexBuilder {
  /// So long, in nanoseconds, a batch should hold the writer.
  private static let target: UInt64 = 20_000_000
  /// So long it may write at least, however long the disk takes for its commit.
  private static let leastTime: UInt64 = 5_000_000
  /// So many entries are gathered at once: some 32 bytes each, and as many again meanwhile.
  static let passLength = 1 << 20

  private let store: StoreEngine
  private let limit = WorkLimit()
  private let largestBatch: Int
  private let passLength: Int
  private let mostChanges: Int
  private var pass: IndexPass?
  /// How often entries were gathered.
  private(set) var passCount = 0
  /// How long, in nanoseconds, the last batch took behind its writing, and the longest one held the
  /// writer.
  private var commitTime: UInt64 = 0
  private(set) var longestBatch: UInt64 = 0

  /// - Parameters:
  ///   - largestBatch: How many entries a batch has at most.
  ///   - mostChanges: More objects that others have changed are not looked up in one batch.
  init(
    _ store: StoreEngine, largestBatch: Int, passLength: Int = OnlineIndexBuilder.passLength,
    mostChanges: Int = 1 << 12
  ) {
    self.store = store
    self.passLength = passLength
    self.largestBatch = largestBatch
    self.mostChanges = mostChanges
  }

  /// Builds until every index is ready.
  ///
  /// - Parameters:
  ///   - isStopped: Asked between batches, and while entries are gathered; the build ends where it
  ///     says so.
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
      if let build = list.next {
        guard let indexNumber = indexNumber(of: build.index) else {
          throw .corrupted(
            what: "The entry \(StoreFormat.indexBuildsKey) refers to an index that doesn't exist.")
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

  /// The number throughout the store of an index.
  private func indexNumber(of index: UInt16) -> Int? {
    store.databases.indexes.firstIndex { store.schema.catalogNumber(of: $0.schema) == index }
  }

  // MARK: Filling

  /// Writes a batch; false where another builder was faster.
  private func fill(
    _ build: IndexBuildList.Build, from pass: IndexPass, of list: IndexBuildList,
    _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    // The map cannot grow while this thread has a snapshot.
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

  /// The entries that are next: those that were gathered before, as long as nobody else has written
  /// some of them, or those of a snapshot; nil where the build is stopped.
  private func pass(
    for build: IndexBuildList.Build, at indexNumber: Int, _ snapshot: StoreSnapshot,
    _ isStopped: () -> Bool
  ) throws(StoreError) -> IndexPass? {
    if let pass, pass.index == build.index, pass.position == build.position, !pass.rest.isEmpty {
      return pass
    }
    pass = nil
    let made = try IndexPass(build, at: indexNumber, snapshot, mostChanges: mostChanges)
    passCount += 1
    guard try made.gather(snapshot.reader, passLength, limit, isStopped) else { return nil }
    pass = made
    return made
  }

  /// Lets others write: the engine's lock is not fair to those that have waited for it longer.
  private func rest(after duration: UInt64) {
    usleep(UInt32(min(5_000, max(200, duration / 4_000))))
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

  /// Changes the list in a write transaction.
  ///
  /// - Parameters:
  ///   - list: As it was when the change was prepared.
  ///   - body: Changes it; gives false where nothing is to be written.
  /// - Returns: false where another builder has changed the list since, or where nothing was to be
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
        // Nothing is to be committed; the word is not heard outside.
        if isGivenUp { throw .closed }
        try present.write(&header, arbor, transaction)
      }
    } catch {
      if isGivenUp { return false }
      throw error
    }
    return true
  }

  /// Waits for as long as another builder goes on.
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

  /// Nanoseconds since some moment, by a clock that nobody sets.
  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// How far an index is filled that is not ready yet.
package struct IndexBuildStatus: Sendable, Hashable {
  /// The entity that declares the index.
  package let entity: String
  package let index: String
  package let isUnique: Bool
  package let state: IndexBuildList.State
  /// How many objects are in it, estimated from the part of its entries that is written.
  package let objectsDone: Int
  package let objectCount: Int
}
