package import ArborFoundation
internal import ArborLocks
package import ArborModel
internal import Dispatch
package import LMDB

/// The engine of one open store file: its schema, its databases, its writer.
///
/// A process has at most one engine per file, shared by all threads and by everything that opens
/// the file. Each read operation takes its own snapshot; commits are serialized.
package final class StoreEngine: Sendable {
  package let id: UUID
  package let schema: ModelSchema
  /// The canonical path, or `nil` for a store in memory.
  package let path: String?
  package let isReadOnly: Bool
  package let environment: Environment
  package let databases: StoreDatabases
  package let layouts: StoreLayouts
  package let modelFingerprint: ModelFingerprint
  /// The digest of the model that ``schema`` was created from.
  package let modelDigest: ModelDigest
  /// The model generation, which increases whenever the stored model's fingerprint changes.
  package let modelGeneration: UInt32
  /// Whether a commit waits until it is on disk.
  package let isDurable: Bool
  /// Whether commits may ignore a ``MigrationMarker``.
  let isMigrating: Bool

  let plans: [WritePlan?]
  /// The number of fetches that each index has served, by index number.
  let indexUse: UseCounters
  let blocks: NumberBlocks
  let queue = CommitQueue()
  /// The removed binary values that contexts with pending changes may need.
  package let retainedBlobs = RetainedBlobs()
  let writtenHeader = WrittenHeader()
  let journal: StoreJournal
  let health = PageHealth()
  let indexBuilding = BackgroundIndexBuild()
  let scrubbing = BackgroundScrub()
  /// The object that notifies listeners of new commits.
  package let notifications = CommitNotifications()
  /// Whether the last commit was made since the machine booted. If not, its writer may have been
  /// interrupted by a crash of the machine.
  let wasWrittenSinceBoot: Bool
  private let newest: Atomic<UInt64>
  private let mark: Lock<Mark>
  private let isClosed = Atomic(false)
  private let follows = Atomic(false)
  /// The shared log, in which a commit must be recorded before it takes effect, or `nil` for a
  /// store without one.
  let sharing = Lock<(any SharedLog)?>(nil)

  /// The contents of the newest header that was read, so that a snapshot of the same transaction
  /// need not read it again.
  private struct Mark {
    var transactionID: UInt64
    var sequence: UInt64
    var model: ModelState?
    /// The unfinished indexes, or `nil` if every index is ready.
    var unfinishedIndexes: UnfinishedIndexes?
  }

  init(_ parts: consuming StoreParts) {
    id = parts.header.storeID
    schema = parts.schema
    path = parts.path
    isReadOnly = parts.environment.isReadOnly
    environment = parts.environment
    databases = parts.databases
    layouts = parts.layouts
    modelFingerprint = parts.header.modelFingerprint
    modelDigest = parts.modelDigest
    modelGeneration = parts.header.modelGeneration
    isDurable = parts.isDurable
    isMigrating = parts.isMigrating
    journal = parts.journal
    wasWrittenSinceBoot = parts.header.bootID == StoreHeader.bootID
    plans = WritePlan.all(of: parts.schema, databases: parts.databases)
    indexUse = UseCounters(parts.databases.indexes.count)
    blocks = NumberBlocks(parts.schema)
    newest = Atomic(parts.header.sequence)
    // If indexes are being built or the file is being migrated, the first snapshot reads the
    // details.
    let isPlain = !parts.header.hasIndexBuilds && !parts.header.isBeingMigrated
    mark = Lock(
      Mark(
        transactionID: isPlain ? parts.header.transactionID : 0,
        sequence: parts.header.sequence))
  }

  /// The sequence number of the newest commit that this process knows of. A single atomic load.
  package var lastSequence: UInt64 { newest.load(ordering: .acquiring) }

  /// Whether the newest transaction that was read has a later model. If this process can't read
  /// data of that model, snapshots throw `modelChanged`.
  var hasLaterModel: Bool { modelState?.phase == .isChanged }

  /// The model state in the newest transaction that was read, or `nil` if it is unchanged since the
  /// file was opened.
  package var modelState: ModelState? { mark.withLock(\.model) }

  /// Checks whether other processes have committed, and returns the newest sequence number.
  @discardableResult
  package func refreshSequence() throws(StoreError) -> UInt64 {
    let transaction = try storing(environment.lastTransactionID)
    if mark.withLock({ $0.transactionID != transaction }) { try snapshot().close() }
    return lastSequence
  }

  /// Checks whether other processes have committed, without throwing. Returns the ID of the newest
  /// transaction that readers see, `.max` if this process can't read it, or `nil` if the store
  /// can't be read at the moment.
  func lookAtNewest() -> UInt64? {
    do throws(StoreError) {
      let snapshot = try snapshot(reportsFindings: false)
      snapshot.close()
      lookForReplacement()
      return mark.withLock { $0.transactionID }
    } catch .modelChanged {
      // Later transactions can't be read either.
      return .max
    } catch {
      return nil
    }
  }

  // MARK: Reading

  /// Runs `body` on a snapshot of the newest commit.
  func read<R>(_ body: (TransactionReader) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try body(snapshot.reader)
  }

  /// Returns an entry of the `arbor` database, or `nil` if it doesn't exist.
  func storedEntry(_ key: String) throws(StoreError) -> [UInt8]? {
    try read { (reader) throws(StoreError) in
      try reader.entryIfPresent(key, in: databases.arbor).map { Array($0) }
    }
  }

  /// Takes a snapshot of the newest commit. Close it soon.
  ///
  /// - Parameter reportsFindings: Whether to throw damage that was found in the background and has
  ///   not been reported yet. Operations that can't report it leave it to the next one.
  /// - Throws: `modelChanged` if another process has migrated the file to a model with which this
  ///   one can't read it; `corrupted` for damage.
  package func snapshot(reportsFindings: Bool = true) throws(StoreError) -> StoreSnapshot {
    guard !isClosed.load(ordering: .relaxed) else { throw .closed }
    if reportsFindings { try health.report() }
    let transaction = try storing(path: path, environment.beginRead())
    let transactionID = transaction.id
    let known = mark.withLock { mark in
      mark.transactionID == transactionID ? (mark.sequence, mark.unfinishedIndexes) : nil
    }
    if let (sequence, unfinished) = known {
      return StoreSnapshot(store: self, sequence: sequence, unfinished, transaction)
    }
    let header = try StoreHeader.read(transaction.reader)
    let model = modelState(header, transaction.reader)
    guard header.mayBeRead(byGeneration: modelGeneration) else {
      mark.withLock { $0.model = model }
      throw .modelChanged
    }
    let unfinished = try UnfinishedIndexes.read(header, transaction.reader, schema, databases)
    note(header, unfinished, transactionID: transactionID, model)
    return StoreSnapshot(store: self, sequence: header.sequence, unfinished, transaction)
  }

  /// Records the contents of a transaction's header, unless a newer one is known.
  func note(
    _ header: HeaderRecord, _ unfinished: UnfinishedIndexes?, transactionID: UInt64,
    _ model: ModelState? = nil
  ) {
    mark.withLock { mark in
      guard transactionID > mark.transactionID else { return }
      mark = Mark(
        transactionID: transactionID, sequence: header.sequence, model: model,
        unfinishedIndexes: unfinished)
      newest.store(header.sequence, ordering: .releasing)
    }
  }

  /// Records that the file has been replaced by its migrated copy.
  func noteReplacement() {
    mark.withLock { mark in
      guard let model = mark.model else { return }
      mark.model = ModelState(phase: .isReplaced, fingerprint: model.fingerprint, isReadable: true)
    }
  }

  // MARK: Writing

  /// Writes a change set atomically. Blocks until it is durable, or until it is written if
  /// ``isDurable`` is `false`.
  ///
  /// Commits that wait at the same time share one transaction (group commit). The contents of the
  /// change set must not be changed or freed before this returns.
  ///
  /// - Parameter limit: The limit that ends waiting for other transactions. Once the change set is
  ///   being written, the limit has no effect.
  /// - Throws: `interrupted` or `busy` if the change set has to wait for too long. Nothing is
  ///   written in these cases.
  package func commit(
    _ changes: borrowing ChangeSet, limit: WorkLimit = WorkLimit()
  ) throws(StoreError) -> CommitReceipt {
    guard !isClosed.load(ordering: .relaxed) else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    if changes.isEmpty { return CommitReceipt(sequence: lastSequence) }
    return try queue.submit(copy changes, to: self, limit)
  }

  /// Passes the gate of the file for the next transaction of this thread. The caller leaves it
  /// afterwards.
  ///
  /// - Throws: `interrupted` if the limit ends the wait; `busy` after the busy timeout.
  func enterGate(_ limit: WorkLimit) throws(StoreError) {
    try storing(limit, path: path) { () throws(LMDBError) in
      try environment.enterGate {
        do throws(Interruption) { try limit.checkNow() } catch { return true }
        return false
      }
    }
  }

  /// Returns why a thread must stop waiting for another one of this process that writes, or `nil` if
  /// it can go on.
  ///
  /// - Parameter start: The time at which it began to wait; see ``now``.
  func reasonToStop(waitingSince start: UInt64, _ limit: WorkLimit) -> StoreError? {
    if let reason = limit.reasonToStop { return .interrupted(reason) }
    guard let timeout = environment.options.busyTimeout,
      Double(Self.now &- start) > timeout * 1e9
    else { return nil }
    return .busy(path: path, BusyProcess(environment.busyWriter))
  }

  /// The time of a monotonic clock in nanoseconds.
  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Takes the turn among all threads and processes that have the store open. It is advisory and
  /// expires after a fraction of a second. Returns `nil` if another one has it, otherwise a value to
  /// pass to ``endTurn(_:)``.
  package func takeTurn() -> Int? { environment.takeTurn() }

  /// Ends a turn, which may have expired.
  package func endTurn(_ turn: Int) { environment.endTurn(turn) }

  /// Whether another thread or process has the turn.
  package var isTurnTaken: Bool { environment.isTurnTaken }

  /// Waits until all commits are on disk, even if commits don't wait for it.
  package func synchronize() throws(StoreError) { try storing(environment.synchronize()) }

  /// Whether the store follows a log, so that only commits from the log are written.
  var isFollower: Bool { follows.load(ordering: .relaxed) }

  /// Makes the store follow a log. From now on, only commits from the log are written.
  package func beginFollowing() { follows.store(true, ordering: .relaxed) }

  /// Whether the store has been closed.
  var hasEnded: Bool { isClosed.load(ordering: .relaxed) }

  /// Rejects all operations from now on, and closes the file when the last snapshot is closed.
  func end() {
    isClosed.store(true, ordering: .relaxed)
    indexBuilding.stop()
    scrubbing.stop()
    // If a snapshot is still open, the file closes with the last reference to it.
    try? environment.close()
  }
}

/// The parts of an opened file, from which its engine is created.
struct StoreParts {
  let environment: Environment
  let path: String?
  let schema: ModelSchema
  let modelDigest: ModelDigest
  let databases: StoreDatabases
  let layouts: StoreLayouts
  let header: HeaderRecord
  let isDurable: Bool
  let isMigrating: Bool
  let journal: StoreJournal
}

extension StoreEngine {
  /// Returns the public ID of an object of this store.
  package func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: id, entityName: schema.entity(of: number)?.name ?? "", number: number.sequence)
  }

  /// Returns the number of the object with an ID.
  ///
  /// - Throws: `foreignObject` for an ID of another store or of an unknown entity.
  package func objectNumber(_ id: ObjectID) throws(StoreError) -> ObjectNumber {
    guard id.storeID == self.id else {
      throw .foreignObject("\(id) belongs to another store. Use that store.")
    }
    guard let entity = schema.entity(named: id.entityName), !entity.isAbstract else {
      throw .foreignObject("\(id) refers to an entity that this store's model doesn't have.")
    }
    return ObjectNumber(entity: entity.number, sequence: id.number)
  }
}
