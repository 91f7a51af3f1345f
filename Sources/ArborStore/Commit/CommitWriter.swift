internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Writes change sets one by one in the leader's transaction.
struct CommitWriter: ~Copyable {
  let store: StoreEngine
  let workspace: CommitWorkspace
  /// The header to be written, with the sequence number of the last set.
  private(set) var header: HeaderRecord
  private(set) var hasWritten: Bool
  /// The commits as encoded for a shared log or the journal. Empty if they exceed the encoding
  /// limit.
  private(set) var encoded: [[UInt8]] = []
  /// The number of bytes that ``encoded`` may still grow by.
  private var encodingRoom: Int

  /// - Parameters:
  ///   - hasWritten: Whether the transaction already contains other sets.
  ///   - encodingLimit: The maximum number of bytes of ``encoded``, or zero if it isn't needed.
  init(
    store: StoreEngine, workspace: CommitWorkspace, header: HeaderRecord, hasWritten: Bool = false,
    encodingLimit: Int = 0
  ) {
    self.hasWritten = hasWritten
    self.store = store
    self.workspace = workspace
    self.header = header
    encodingRoom = encodingLimit
  }

  /// Validates a set completely, then writes it.
  ///
  /// - Parameter replayed: The history entry of the commit in another copy of the store, if it is
  ///   being replayed here.
  mutating func writeChangeSet(
    _ set: ChangeSet, replaying replayed: [UInt8]? = nil, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> CommitReceipt {
    defer { workspace.removeAll() }
    try header.checkHasNext()
    if set.purges { return try purge(set, replaying: replayed, transaction) }
    if let claim = set.claim { return try writeClaim(claim, of: set, transaction) }
    // A large set is validated against a snapshot of the state before the transaction, whose pages
    // can be read from the map. If the transaction has already written another set, or no snapshot
    // can be taken, the transaction is read instead.
    let wantsSnapshot = !hasWritten && set.records.count >= Self.manyRecords
    let snapshot = wantsSnapshot ? try? store.snapshot(reportsFindings: false) : nil
    defer { snapshot?.close() }
    let before = try snapshot?.reader
    let date = replayed.flatMap { $0.withUnsafeBytes { HistoryCodec.date(of: $0) } } ?? Date()
    var preparation = try CommitPreparation(
      set, store: store, workspace: workspace, reader: before ?? transaction.reader,
      sweeps: before != nil)
    try preparation.collectAndCheck(set, date: date)
    // A commit that another copy of the store has accepted is never refused because of the rules.
    if replayed == nil { try preparation.checkCounts() }
    let history =
      replayed
      ?? CommitHistory(
        set, changes: preparation.changes, tombstones: workspace.tombstones, schema: store.schema
      ).encoded(sequence: header.sequence + 1, date: date, store.schema)
    if set.confirmsMigration { try store.forgetFormerModel(transaction) }
    try retainBlobs(besides: set.blobHolder, transaction)
    do throws(LMDBError) {
      header.sequence += 1
      for run in preparation.entityRuns {
        try writeRecords(preparation.changes[run], transaction, before)
      }
      try writeBlobs(set.blobs, transaction)
      try applyIndexes(transaction, before)
      for (key, value) in set.metadata { try writeMetadata(key, value, transaction) }
      try recordHistory(of: set, preparation.submitted, history, transaction)
    } catch {
      throw StoreError(error)
    }
    let owners = preparation.owners.map {
      HistoryEntry.Change(
        number: $0.number, kind: .update, changedProperties: $0.changedProperties)
    }
    return CommitReceipt(sequence: header.sequence, owners: owners)
  }

  private mutating func purge(
    _ set: ChangeSet, replaying replayed: [UInt8]?, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> CommitReceipt {
    try store.removeAll(transaction)
    workspace.forgetEnds()
    header.sequence += 1
    let history =
      replayed
      ?? CommitHistory.everything.encoded(
        sequence: header.sequence, date: Date(), store.schema)
    try storing(recordHistory(of: set, [], history, transaction))
    return CommitReceipt(sequence: header.sequence)
  }

  /// Records a written set in the history and in the logs.
  private mutating func recordHistory(
    of set: ChangeSet, _ changes: [ChangeSet.RecordChange], _ history: [UInt8],
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    hasWritten = true
    try CommitHistory.write(history, behind: &header, store.databases.history, transaction)
    let isKept = header.keepsLog && !store.isMigrating
    // Every change needs more bytes than this, so a large set need not be encoded.
    if changes.count > encodingRoom / 8 { stopEncoding() }
    guard isKept || encodingRoom > 0 else { return }
    let commit = LoggedCommitCodec.encode(
      set, changes: changes, history: history, sequence: header.sequence,
      generation: header.modelGeneration, store.schema)
    if isKept { try StoreLog.append(commit, of: header.sequence, transaction) }
    guard encodingRoom > 0 else { return }
    encoded.append(commit)
    encodingRoom -= commit.count + 16
    if encodingRoom <= 0 { stopEncoding() }
  }

  private mutating func stopEncoding() {
    encoded = []
    encodingRoom = 0
  }

  private static var manyRecords: Int { 64 }

  // MARK: Records

  /// Writes the records of one entity in the order of their numbers. Deletions come first, because
  /// a cursor is only used for puts.
  private func writeRecords(
    _ changes: ArraySlice<ChangeSet.RecordChange>, _ transaction: borrowing WriteTransaction,
    _ before: TransactionReader?
  ) throws(LMDBError) {
    guard let first = changes.first, let entity = store.schema.entity(of: first.number) else {
      return
    }
    let (layout, database) = (entity.layout, store.databases.records(entity.index))
    if let before, try isRewriteWorthwhile(changes, database, before) {
      let last = try rewriteRecords(changes, of: entity, database, transaction, from: before)
      return workspace.greatestNumbers[entity.index].note(last)
    }
    var last = try workspace.greatestNumbers[entity.index].find(in: database, transaction.reader)
    if before != nil {
      let end = changes.partitioningIndex { $0.number.rawValue > last }
      try transaction.reader.verifyPages(of: database, forChanges: end - changes.startIndex)
    }
    for change in changes where change.record == nil {
      try transaction.delete(database, key: change.number.rawValue)
    }
    defer { workspace.greatestNumbers[entity.index].note(last) }
    if changes.count == 1, let change = changes.first {
      return try putAlone(change, layout, database, last: &last, transaction)
    }
    let cursor = try transaction.reader.cursor(database)
    for changeIndex in changes.indices {
      let change = changes[changeIndex]
      if changeIndex + NumberMap.lookahead < changes.endIndex {
        changes[changeIndex + NumberMap.lookahead].record?.prefetch()
      }
      guard let record = change.record else { continue }
      let isAbove = change.number.rawValue > last
      if isAbove { last = change.number.rawValue }
      try put(record, of: change, layout, isAbove: isAbove, cursor)
    }
  }

  /// Puts the record of a single change, if it has one.
  private func putAlone(
    _ change: ChangeSet.RecordChange, _ layout: RecordLayout, _ database: Database,
    last: inout UInt64, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let record = change.record else { return }
    let number = change.number.rawValue
    try transaction.put(
      database, key: number, reserving: record.sealedSize(layout), isAbove: number > last
    ) { target in
      record.seal(
        into: target, layout: layout, key: change.number,
        version: change.version(in: header.sequence), commit: header.sequence)
    }
    last = max(last, number)
  }

  /// Puts a record, which is sealed in place.
  @inline(__always)
  func put(
    _ record: RecordView, of change: ChangeSet.RecordChange, _ layout: RecordLayout,
    isAbove: Bool, _ cursor: borrowing Cursor
  ) throws(LMDBError) {
    try cursor.put(
      key: change.number.rawValue, reserving: record.sealedSize(layout), isAbove: isAbove
    ) { target in
      record.seal(
        into: target, layout: layout, key: change.number,
        version: change.version(in: header.sequence), commit: header.sequence)
    }
  }

  /// Writes the set's changes to indexes and relationships.
  @inline(__always)
  private func applyIndexes(
    _ transaction: borrowing WriteTransaction, _ before: TransactionReader?
  ) throws(LMDBError) {
    for index in workspace.indexes where !index.run.isEmpty || index.isSwept {
      try index.apply(transaction, before: before, without: workspace.swept)
    }
    for relationship in workspace.relationships {
      guard let relationship, !relationship.isEmpty else { continue }
      try relationship.apply(transaction, before: before, without: workspace.swept)
    }
    for ordered in workspace.ordered {
      if let ordered, !ordered.isEmpty { try ordered.apply(transaction) }
    }
  }

  /// Keeps the binary values about to be deleted that other contexts of the process may need.
  private func retainBlobs(
    besides holder: ObjectIdentifier?, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    for dropped in workspace.droppedBlobs
    where store.retainedBlobs.isNeeded(dropped.name.number, besides: holder) {
      guard let database = store.databases.blobs(dropped.entity) else { continue }
      let reader = transaction.reader
      let data = try storing(
        BlobStorage.read(dropped.reference, dropped.name, database, reader))
      guard let data else { continue }
      store.retainedBlobs.keep(data, BlobKey(name: dropped.name, reference: dropped.reference))
    }
  }

  /// Deletes the binary values that are no longer referred to, then writes the new ones. The order
  /// matters, because a new one may have the name of a deleted one.
  private func writeBlobs(
    _ blobs: [ChangeSet.Blob], _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    for dropped in workspace.droppedBlobs {
      guard let database = store.databases.blobs(dropped.entity) else { continue }
      try BlobStorage.delete(dropped.reference, dropped.name, database, transaction)
    }
    for blob in blobs {
      guard let entity = store.schema.entity(of: blob.name.number),
        let database = store.databases.blobs(entity.index)
      else { continue }
      try BlobStorage.write(blob, database, transaction)
    }
  }

  private func writeMetadata(
    _ key: String, _ value: [UInt8]?, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    let key = Array(StoreFormat.applicationKey(key).utf8)
    if let value {
      try transaction.put(store.databases.arbor, key: key, value: value)
    } else {
      try transaction.delete(store.databases.arbor, key: key)
    }
  }
}
