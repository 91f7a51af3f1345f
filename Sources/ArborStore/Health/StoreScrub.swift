internal import ArborFoundation
internal import ArborModel
internal import Dispatch
internal import LMDB

/// Reads a store's whole file and searches for damage while the store stays in use: every page,
/// without the memory map; the entries of every database, whose sum must match the digest; and the
/// checksums of all records and large binaries, and the stored derived values.
///
/// ```
/// pages of a snapshot · database of a snapshot · database of a later one · … · record the time
/// ```
///
/// Each part reads its own snapshot, which prevents freed pages from being reused: first as long as
/// it takes to read the whole file once, then one database at a time. Commits update the digests,
/// so databases that have been read stay verified, and a scrub that ended early continues with the
/// rest.
///
/// A finding makes the store suspect, as a damaged page does; see ``PageHealth``. A read-only store
/// is scrubbed as well, but its progress is not recorded.
final class StoreScrub {
  /// The use of the machine's resources.
  enum Pace {
    /// Reads without pauses.
    case atOnce
    /// Works about half of the time, in bursts of a few milliseconds.
    case gentle
  }

  private let store: StoreEngine
  private let pace: Pace
  /// Whether the progress is written to the store.
  private let recordsProgress: Bool
  /// A closure that waits for a number of milliseconds and returns whether the scrub has to end.
  private let pause: (Int) -> Bool
  private let report: StoreScrubProgress.Reporter?
  private var workBegan = DispatchTime.now().uptimeNanoseconds
  private var savedAt = Date()
  /// Whether parts have been read since the progress was saved.
  private var hasProgress = false
  private var record = ScrubRecord()
  private let allocator = SlabAllocator(slabSize: 4 << 10)
  /// The computation of derived values, or `nil` if the model has none.
  private var derived: DerivedValues?

  /// The interval between saves of the progress, in seconds.
  private static let saveInterval: TimeInterval = 10
  /// The time to work between two pauses, in nanoseconds.
  private let stint: UInt64
  /// The length of a gentle pause, in milliseconds.
  private static let rest = 10
  /// The maximum age of an unfinished scrub, in seconds. An older one is restarted, because its
  /// first parts are outdated.
  private static let maximumAge: TimeInterval = 7 * 86_400

  init(
    _ store: StoreEngine, _ pace: Pace, stint: UInt64 = 10_000_000,
    recordsProgress: Bool = true, _ report: StoreScrubProgress.Reporter? = nil,
    pause: @escaping (Int) -> Bool
  ) {
    self.store = store
    self.pace = pace
    self.stint = stint
    self.recordsProgress = recordsProgress
    self.pause = pause
    self.report = report
  }

  /// Scrubs the store, or continues a scrub that ended early.
  ///
  /// - Parameter anew: Whether to start from the beginning even if there is an unfinished scrub.
  /// - Throws: `corrupted` with the first finding; `interrupted` if the scrub was ended; errors
  ///   that prevent reading.
  func run(anew: Bool) throws(StoreError) {
    do throws(StoreError) {
      if store.schema.hasDerivations { derived = try DerivedValues(store) }
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
        if Date().timeIntervalSince(savedAt) > Self.saveInterval { try save() }
      }
      record = ScrubRecord(completed: Date())
      try save()
      report?(StoreScrubProgress(done: total, total: total))
    } catch {
      if case .corrupted = error {
        store.health.note(error)
      } else if hasProgress {
        // The scrub has already failed, so an error here is ignored.
        try? save()
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
    let resolver = store.uncancelledResolver(reader)
    let sum = try storing { () throws(LMDBError) in
      try reader.digest(of: database.database) { (entry) throws(LMDBError) in
        count += 1
        if count.isMultiple(of: 64), mustEnd() { return false }
        if let entity { finding = try self.finding(entry, of: entity, reader, resolver) }
        return finding == nil
      }
    }
    if let finding { throw finding }
    guard let sum else { throw .interrupted(.cancelled) }
    guard try store.digests(snapshot).sum(of: database.database.name) == sum else {
      throw .corrupted(entity: database.entity, what: database.finding)
    }
  }

  /// Returns the finding for a damaged record or large binary value, or `nil` if the entry is
  /// undamaged. The database's sum alone doesn't locate the damage.
  private func finding(
    _ entry: Entry, of entity: EntitySchema, _ reader: TransactionReader,
    _ resolver: SnapshotResolver
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
          what: "A binary value stored outside the record is damaged or missing.")
      }
    }
    return wrongValue(of: number, record, entity, resolver)
  }

  /// Returns the finding for a stored derived value that differs from its derivation, or `nil`.
  private func wrongValue(
    of number: ObjectNumber, _ record: RecordView, _ entity: EntitySchema,
    _ resolver: SnapshotResolver
  ) -> StoreError? {
    guard let derived, !entity.layout.derivedFields.isEmpty else { return nil }
    resolver.limit.begin()
    do throws(StoreError) {
      let wrong = try derived.wrongAttributes(
        of: number, record, entity, resolver, SlabAllocator())
      return wrong.first.map {
        StoreError.corrupted(
          entity: entity.name, object: number,
          what: "The stored value of \(entity.name).\($0.name) differs from its derivation.")
      }
    } catch {
      return error
    }
  }

  /// Returns whether the scrub has to end. Called every few microseconds; pauses when a pause is
  /// due.
  private func mustEnd() -> Bool {
    let now = DispatchTime.now().uptimeNanoseconds
    guard now - workBegan >= stint else { return false }
    let isOver = pause(pace == .gentle ? Self.rest : 0)
    workBegan = DispatchTime.now().uptimeNanoseconds
    return isOver
  }

  // MARK: Progress

  /// Loads the progress of an earlier scrub.
  private func begin(anew: Bool) throws(StoreError) {
    let snapshot = try store.snapshot(reportsFindings: false)
    defer { snapshot.close() }
    let stored = try store.scrubRecord(snapshot)
    _ = try store.digests(snapshot)
    let isYoung = stored?.begun.map { abs($0.timeIntervalSinceNow) < Self.maximumAge } ?? false
    if !anew, isYoung, let stored { record = stored }
    record.completed = stored?.completed
    record.begun = record.begun ?? Date()
  }

  /// Saves the progress.
  private func save() throws(StoreError) {
    savedAt = Date()
    if store.isReadOnly || !recordsProgress { return }
    let record = record
    try store.runTransaction(inFollower: true) { (transaction, _) throws(StoreError) in
      _ = try storing(
        transaction.put(
          store.databases.arbor, key: Array(StoreFormat.scrubKey.utf8), value: record.encoded()))
    }
    hasProgress = false
  }
}

/// The progress of a scrub.
package struct StoreScrubProgress: Sendable, Hashable {
  /// The number of parts read: the pages, then each database.
  package let done: Int
  package let total: Int

  package typealias Reporter = @Sendable (StoreScrubProgress) -> Void
}
