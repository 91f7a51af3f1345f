internal import ArborLocks
package import ArborModel
package import Foundation
package import LMDB

/// The engine of one open store file: its schema, its databases, its writer.
///
/// A file has at most one engine in a process, which everybody who opens it and all threads share.
/// Each reads through snapshots of its own, and commits wait for one another.
package final class StoreEngine: Sendable {
  package let id: UUID
  package let schema: ModelSchema
  /// The canonical path; nil for a store in memory.
  package let path: String?
  package let isReadOnly: Bool
  package let environment: Environment
  package let databases: StoreDatabases
  package let layouts: StoreLayouts
  package let modelFingerprint: ModelFingerprint
  /// Of the model that ``schema`` was made from.
  package let modelDigest: ModelDigest
  /// Grows with every change of the stored model's fingerprint.
  package let modelGeneration: UInt32
  /// Whether commits wait for the medium.
  package let isDurable: Bool
  /// Whether commits may go past a ``MigrationMarker``.
  let isMigrating: Bool

  let plans: [WritePlan?]
  /// How often each index has served a fetch, by the numbers of indexes.
  let indexUse: [UseCounter]
  let blocks: NumberBlocks
  let queue = CommitQueue()
  let writtenHeader = WrittenHeader()
  let deferral = SyncDeferral()
  let health = PageHealth()
  let indexBuilding = BackgroundIndexBuild()
  let scrubbing = BackgroundScrub()
  /// Who is told of new commits.
  package let notifications = CommitNotifications()
  /// Whether the last writer worked since the machine was started; else it may have died with it.
  let wasWrittenSinceBoot: Bool
  private let newest: Atomic<UInt64>
  private let mark: Lock<Mark>
  private let isClosed = Atomic(false)
  private let follows = Atomic(false)
  /// The log that commits enter before they count.
  let sharing = Lock<(any SharedLog)?>(nil)

  /// Which sequence the newest transaction that was looked at belongs to, so that a snapshot of the
  /// same transaction need not read the header.
  private struct Mark {
    var transactionID: UInt64
    var sequence: UInt64
    var model: ModelState?
    /// nil where every index is ready.
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
    wasWrittenSinceBoot = parts.header.bootID == StoreHeader.bootID
    plans = WritePlan.all(of: parts.schema, databases: parts.databases)
    indexUse = parts.databases.indexes.map { _ in UseCounter() }
    blocks = NumberBlocks(parts.schema)
    newest = Atomic(parts.header.sequence)
    // The first snapshot looks which indexes are not ready, and what a file that is being migrated
    // states, where there is anything.
    let isPlain = !parts.header.hasIndexBuilds && !parts.header.isBeingMigrated
    mark = Lock(
      Mark(
        transactionID: isPlain ? parts.header.transactionID : 0,
        sequence: parts.header.sequence))
  }

  /// The sequence of the newest commit that this process knows. One atomic load.
  package var lastSequence: UInt64 { newest.load(ordering: .acquiring) }

  /// Whether the newest transaction that was looked at is of a later model, by which what this
  /// process knows is read as before.
  var hasLaterModel: Bool { modelState?.phase == .isChanged }

  /// What the newest transaction that was looked at states of the model; nil where it is as it was
  /// when the file was opened.
  package var modelState: ModelState? { mark.withLock(\.model) }

  /// Looks whether other processes have committed; returns the newest sequence.
  @discardableResult
  package func refreshSequence() throws(StoreError) -> UInt64 {
    let transaction = try storing(environment.lastTransactionID)
    if mark.withLock({ $0.transactionID != transaction }) { try snapshot().close() }
    return lastSequence
  }

  /// Looks quietly whether other processes have committed; returns the newest transaction that
  /// readers see, or nil where the store cannot be read just now.
  func lookAtNewest() -> UInt64? {
    do throws(StoreError) {
      let snapshot = try snapshot(reportsFindings: false)
      snapshot.close()
      lookForReplacement()
      return mark.withLock { $0.transactionID }
    } catch .modelChanged {
      // No later transaction can be read either.
      return .max
    } catch {
      return nil
    }
  }

  // MARK: Reading

  /// Reads in a view of the store as of now.
  func read<R>(_ body: (TransactionReader) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try body(snapshot.reader)
  }

  /// An entry of the `arbor` database; nil where none exists.
  func storedEntry(_ key: String) throws(StoreError) -> [UInt8]? {
    try read { (reader) throws(StoreError) in
      try reader.entryIfPresent(key, in: databases.arbor).map { Array($0) }
    }
  }

  /// A view of the store as of now; close it soon.
  ///
  /// - Parameter reportsFindings: Whether a finding of the verification behind the store is thrown,
  ///   which happens once. Work that cannot report it leaves it to the next operation.
  /// - Throws: `modelChanged` if another process has given the file another model, by which what
  ///   this one knows is read otherwise; `corrupted` for a finding.
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
    let header = try StoreHeader.read(transaction.reader, databases.arbor)
    let model = modelState(header, transaction.reader)
    guard header.mayBeRead(byGeneration: modelGeneration) else {
      mark.withLock { $0.model = model }
      throw .modelChanged
    }
    let unfinished = try UnfinishedIndexes.read(header, transaction.reader, schema, databases)
    note(header, unfinished, transactionID: transactionID, model)
    return StoreSnapshot(store: self, sequence: header.sequence, unfinished, transaction)
  }

  /// Remembers what a transaction brought. Older news than the present are ignored.
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

  /// Remembers that the file has been replaced by the one that it was being migrated in.
  func noteReplacement() {
    mark.withLock { mark in
      guard let model = mark.model else { return }
      mark.model = ModelState(phase: .isReplaced, fingerprint: model.fingerprint, isReadable: true)
    }
  }

  // MARK: Writing

  /// Writes a change set, whole or not at all; blocks until it is durable.
  ///
  /// Commits that wait at the same time share a transaction of the engine. Nothing in the change
  /// set may be changed or freed before this returns.
  package func commit(_ changes: borrowing ChangeSet) throws(StoreError) -> CommitReceipt {
    guard !isClosed.load(ordering: .relaxed) else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    if changes.isEmpty { return CommitReceipt(sequence: lastSequence) }
    return try queue.submit(copy changes, to: self)
  }

  /// Waits until everything that was committed is on the medium, whatever commits wait for.
  package func synchronize() throws(StoreError) { try storing(environment.synchronize()) }

  /// Whether nothing is written but what comes from a log.
  var isFollower: Bool { follows.load(ordering: .relaxed) }

  /// From now on nothing is written but what comes from a log.
  package func beginFollowing() { follows.store(true, ordering: .relaxed) }

  /// Whether the store has been closed.
  var hasEnded: Bool { isClosed.load(ordering: .relaxed) }

  /// Refuses everything from now on, and closes the file as soon as the last snapshot is gone.
  func end() {
    isClosed.store(true, ordering: .relaxed)
    indexBuilding.stop()
    scrubbing.stop()
    // Where a snapshot lives still, the file closes with the last reference to it.
    try? environment.close()
  }
}

/// What an opened file consists of.
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
}

extension StoreEngine {
  /// The public identity of an object of this store.
  package func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: id, entityName: schema.entity(of: number)?.name ?? "", number: number.sequence)
  }

  /// The key of the object that an ID names.
  ///
  /// - Throws: `foreignObject` for an ID of another store or of an entity that this one does not
  ///   have.
  package func objectNumber(_ id: ObjectID) throws(StoreError) -> ObjectNumber {
    guard id.storeID == self.id else {
      throw .foreignObject("\(id) is of another store; ask the store it belongs to.")
    }
    guard let entity = schema.entity(named: id.entityName), !entity.isAbstract else {
      throw .foreignObject("\(id) names an entity that this store's model does not have.")
    }
    return ObjectNumber(entity: entity.number, sequence: id.number)
  }
}
