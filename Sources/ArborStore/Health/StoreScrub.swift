internal import ArborModel
internal import Foundation
internal import LMDB

/// Reads a store's file as a whole and looks for damage, while others read and write: every page,
/// by plain reads; the entries of every database, which must have the sum that its commits have
/// left; the checksum of every record and of every large binary.
///
/// ```
/// pages of a snapshot · database of a snapshot · database of a later one · … · the time is kept
/// ```
///
/// Each part reads a snapshot of its own, which keeps what others free meanwhile from being used
/// again: as long as it takes to read the whole file once, then one database after the other. A
/// database that was read stays as good as its commits keep it, so one that has ended early goes on
/// with the rest. Digests that are unknown are counted: each part adds what its database has to
/// what commits have changed of it since the count began.
///
/// What is found makes the store suspect, as a damaged page does; see ``PageHealth``. A store that
/// may only be read is scrubbed as well, and nothing is remembered of it.
final class StoreScrub {
  /// How it shares the machine.
  enum Pace {
    /// It reads on until it is done.
    case atOnce
    /// It works half of the time, some milliseconds each.
    case gentle
  }

  private let store: StoreEngine
  private let pace: Pace
  /// Waits, for so long in milliseconds; true where the scrub has to end.
  private let pause: (Int) -> Bool
  private let report: StoreScrubProgress.Reporter?
  private var workBegan = DispatchTime.now().uptimeNanoseconds
  private var savedAt = Date()
  /// Whether parts were read that are not kept yet.
  private var hasProgress = false
  /// The sums that were counted and not kept yet, with what had changed when each was.
  private var counted: [(name: String, sum: UInt64, change: UInt64)] = []
  private var record = ScrubRecord()
  private let allocator = SlabAllocator(slabSize: 4 << 10)

  /// Between two saves of how far it is lie so many seconds.
  private static let saveInterval: TimeInterval = 10
  /// So long it works between two pauses, in nanoseconds, and pauses gently, in milliseconds.
  private let stint: UInt64
  private static let rest = 10
  /// One that was begun longer ago is begun anew, in seconds: its first parts say little by now.
  private static let longestRun: TimeInterval = 7 * 86_400

  init(
    _ store: StoreEngine, _ pace: Pace, stint: UInt64 = 10_000_000,
    _ report: StoreScrubProgress.Reporter? = nil, pause: @escaping (Int) -> Bool
  ) {
    self.store = store
    self.pace = pace
    self.stint = stint
    self.pause = pause
    self.report = report
  }

  /// Scrubs the store, or goes on with a scrub that has ended early.
  ///
  /// - Parameter anew: Whether nothing is taken over of one that has ended early.
  /// - Throws: `corrupted` with the first finding; `interrupted` where it was ended; what keeps it
  ///   from reading.
  func run(anew: Bool) throws(StoreError) {
    do throws(StoreError) {
      if let finding = store.health.finding { throw finding }
      try begin(anew: anew)
      let databases = try store.digestedDatabases()
      let total = databases.count + 1
      report?(StoreScrubProgress(done: 0, total: total))
      if !record.hasReadPages {
        try readPages()
        record.hasReadPages = true
        hasProgress = true
      }
      for (index, database) in databases.enumerated() {
        report?(StoreScrubProgress(done: index + 1, total: total))
        let seed = EntryDigest.seed(of: database.database.name)
        if !record.databases.contains(seed) {
          if mustEnd() { throw .interrupted(.cancelled) }
          try read(database)
          record.databases.insert(seed)
          hasProgress = true
        }
        if Date().timeIntervalSince(savedAt) > Self.saveInterval { try save(nil) }
      }
      record = ScrubRecord(completed: Date())
      try save(databases.map(\.database.name))
      report?(StoreScrubProgress(done: total, total: total))
    } catch {
      if case .corrupted = error {
        store.health.note(error)
      } else if hasProgress {
        // What keeps this from being written has ended the scrub as well.
        try? save(nil)
      }
      throw error
    }
  }

  // MARK: Parts

  private func readPages() throws(StoreError) {
    do throws(LMDBError) {
      try store.environment.verifyPages(
        expecting: store.expectedDatabases, allowing: store.allowedDatabases
      ) { self.mustEnd() }
    } catch {
      if error == .closed { throw .interrupted(.cancelled) }
      throw StoreError(error, path: store.path)
    }
  }

  private func read(_ database: DigestedDatabase) throws(StoreError) {
    let snapshot = try store.snapshot(reportsFindings: false)
    defer { snapshot.close() }
    let reader = try snapshot.reader
    let handle = database.database.handle
    let entity = store.schema.entities.first {
      !$0.isAbstract && store.databases.records($0.index).handle == handle
    }
    var (count, finding): (Int, StoreError?) = (0, nil)
    let sum = try storing { () throws(LMDBError) in
      try reader.digest(of: database.database) { (entry) throws(LMDBError) in
        count += 1
        if count.isMultiple(of: 64), mustEnd() { return false }
        if let entity { finding = try self.finding(entry, of: entity, reader) }
        return finding == nil
      }
    }
    if let finding { throw finding }
    guard let sum else { throw .interrupted(.cancelled) }
    switch try store.digests(snapshot) {
    case .damaged: throw StoreDigests.damage
    case .unknown: break
    case .known(let digests):
      let name = database.database.name
      if let change = digests.change(of: name) {
        counted.append((name, sum, change))
      } else if digests.sum(of: name) != sum {
        throw .corrupted(entity: database.entity, what: database.finding)
      }
    }
  }

  /// What is wrong with the record of an object of an entity, beside the sum of all.
  private func finding(
    _ entry: Entry, of entity: EntitySchema, _ reader: TransactionReader
  ) throws(LMDBError) -> StoreError? {
    guard let base = entry.value.baseAddress else { return nil }
    let number = ObjectNumber(rawValue: entry.integerKey)
    let record: RecordView
    do throws(StoreError) {
      record = try store.layouts.verified(
        RecordView(base: base, count: entry.value.count), of: number, entity: entity,
        allocator: allocator)
    } catch {
      return error
    }
    for field in entity.layout.externalFields {
      guard let reference = record.blob(field), let blobs = store.databases.blobs(entity.index)
      else { continue }
      let name = BlobName(reference, of: number, field)
      if try BlobStorage.read(reference, name, blobs, reader) == nil {
        return .corrupted(
          entity: entity.name, object: number,
          what: "A binary stored outside the record is damaged or missing.")
      }
    }
    return nil
  }

  /// Whether it has to end; asked every few microseconds, and pauses where it is time to.
  private func mustEnd() -> Bool {
    let now = DispatchTime.now().uptimeNanoseconds
    guard now - workBegan >= stint else { return false }
    let isOver = pause(pace == .gentle ? Self.rest : 0)
    workBegan = DispatchTime.now().uptimeNanoseconds
    return isOver
  }

  // MARK: What is kept

  /// Looks how far a former one is, and begins to count digests that are unknown.
  private func begin(anew: Bool) throws(StoreError) {
    let snapshot = try store.snapshot(reportsFindings: false)
    let stored = try store.scrubRecord(snapshot)
    let digests = try store.digests(snapshot)
    snapshot.close()
    if case .damaged = digests { throw StoreDigests.damage }
    let isYoung = stored?.begun.map { abs($0.timeIntervalSinceNow) < Self.longestRun } ?? false
    if !anew, isYoung, let stored { record = stored }
    record.completed = stored?.completed
    record.begun = record.begun ?? Date()
    guard case .unknown = digests, !store.isReadOnly else { return }
    record.databases = []
    let record = record
    try store.runTransaction(repeats: true) { (transaction, header) throws(StoreError) in
      try storing { () throws(LMDBError) in
        // Another process may have begun as well.
        guard case .unknown = try StoreDigests.read(transaction.reader, of: header.transactionID)
        else { return }
        // What was read before the count began says nothing of the new sums.
        try transaction.put(
          store.databases.arbor, key: Array(StoreFormat.scrubKey.utf8), value: record.encoded())
        _ = transaction.takeDigestChanges()
        try StoreDigests.write(
          DatabaseDigests(transactionID: transaction.id, isCounting: true), transaction)
      }
    }
  }

  /// Keeps how far it is; with the names of all databases that each was read.
  private func save(_ all: [String]?) throws(StoreError) {
    savedAt = Date()
    if store.isReadOnly { return }
    let (record, counted) = (record, counted)
    try store.runTransaction(repeats: true) { (transaction, header) throws(StoreError) in
      try storing { () throws(LMDBError) in
        try transaction.put(
          store.databases.arbor, key: Array(StoreFormat.scrubKey.utf8), value: record.encoded())
        let stored = try StoreDigests.read(transaction.reader, of: header.transactionID)
        guard case .known(var digests) = stored, digests.isCounting else { return }
        for part in counted { digests.complete(part.name, sum: part.sum, at: part.change) }
        if let all { digests.endCount(of: all) }
        try StoreDigests.write(digests, transaction)
      }
    }
    self.counted = []
    hasProgress = false
  }
}

/// How far a scrub is.
package struct StoreScrubProgress: Sendable, Hashable {
  /// The parts that were read: the pages, then one database after the other.
  package let done: Int
  package let total: Int

  package typealias Reporter = @Sendable (StoreScrubProgress) -> Void
}
