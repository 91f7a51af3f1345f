internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Opens a store, or creates it if it doesn't exist.
  ///
  /// A file that this process already has open is shared. Each opening has to be ended with
  /// ``close()``.
  package static func open(_ opening: StoreOpening) throws(StoreError) -> StoreEngine {
    try StoreOpener(opening).open()
  }

  /// Ends one opening of the store. The last one closes the file.
  ///
  /// - Parameter compacting: Whether to compact the file before it is closed, if it has many free
  ///   pages and compaction is quick.
  package func close(compacting: Bool = false) {
    if StoreRegistry.shared.isLast(self) {
      try? journal.settle(self)
      if compacting { compactIfWorthwhile() }
    }
    if StoreRegistry.shared.close(self) { end() }
  }

  /// Runs `body`, in which this thread waits for other threads that may write. Meanwhile, growth of
  /// the map does not wait for snapshots of this thread.
  package func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
    try environment.whileWaiting(body)
  }

  /// The minimum number of bytes worth reclaiming.
  private static let leastReclaimed = 1 << 20
  /// The maximum number of bytes to copy, which takes a few hundred milliseconds. Larger files are
  /// only compacted explicitly.
  private static let maximumCopySize = 256 << 20

  private func compactIfWorthwhile() {
    // A process that has written nothing leaves compaction to those that have.
    guard environment.hasCommitted, path != nil,
      let snapshot = try? snapshot(reportsFindings: false)
    else { return }
    let use = try? environment.pageUse(in: snapshot.reader)
    snapshot.close()
    guard let use, use.reclaimable >= Self.leastReclaimed,
      use.reclaimable >= use.fileSize / 8, use.fileSize - use.reclaimable <= Self.maximumCopySize,
      let held = try? environment.heldSnapshots(), held.isEmpty
    else { return }
    // The background scrub ends with the store anyway.
    scrubbing.stop()
    // If the file is in use elsewhere, there is no space, or it has become read-only, it is left
    // unchanged.
    try? compact()
  }

  /// Closes the store and removes its files, including those that migrations have kept.
  ///
  /// - Throws: `inUse` if it is open elsewhere or being migrated. In that case, it stays open.
  package func destroy() throws(StoreError) {
    guard let path else { return close() }
    guard !isReadOnly else { throw .readOnly(path: path) }
    let files = try migrationFiles(path)
    let lock = try files.map { (files) throws(StoreError) in try MigrationLock(files) }
    defer { lock?.end() }
    guard StoreRegistry.shared.closeLast(self) else { throw .inUse(path: path) }
    scrubbing.stop()
    do throws(StoreError) {
      try indexBuilding.paused(self) { () throws(StoreError) in
        try StoreFiles.exclusively(environment) { () throws(StoreError) in
          try StoreFiles.remove(path)
          files?.removeAll()
        }
        end()
      }
    } catch {
      StoreRegistry.shared.reopen(self)
      throw error
    }
  }

  /// Returns the files that migrations keep next to the store's file, or `nil` if the store's file
  /// has been removed.
  private func migrationFiles(_ path: String) throws(StoreError) -> MigrationFiles? {
    do throws(StoreError) { return try MigrationFiles(path: path) } catch {
      if case .missing = error { return nil }
      throw error
    }
  }

  /// Removes all objects and all application metadata in one transaction, including data kept for
  /// reverting to a former model. Object numbers and unique IDs are not reused.
  package func purge() throws(StoreError) {
    var set = ChangeSet()
    set.purges = true
    _ = try commit(set)
  }

  /// Removes all objects, all application metadata and the data of a former model in a transaction.
  func removeAll(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    try forgetFormerModel(transaction)
    try storing { () throws(LMDBError) in
      for entity in schema.concreteEntities {
        try transaction.clear(databases.records(entity.index))
        if let blobs = databases.blobs(entity.index) { try transaction.clear(blobs) }
      }
      for index in databases.indexes { try transaction.clear(index.database) }
      for relationship in databases.relationships {
        try transaction.clear(relationship.members)
        if let order = relationship.order { try transaction.clear(order) }
      }
      try removeMetadata(transaction)
    }
  }

  private func removeMetadata(_ transaction: borrowing WriteTransaction) throws(LMDBError) {
    let prefix = Array(StoreFormat.applicationKey("").utf8)
    // A deletion invalidates cursors, so each iteration creates one.
    while let entry = try transaction.reader.cursor(databases.arbor).seek(prefix),
      entry.key.starts(with: prefix)
    {
      try transaction.delete(databases.arbor, key: Array(entry.key))
    }
  }

  /// Returns application metadata, or `nil` if there is none for the key.
  package func metadata(_ key: String) throws(StoreError) -> [UInt8]? {
    try storedEntry(StoreFormat.applicationKey(key))
  }
}
