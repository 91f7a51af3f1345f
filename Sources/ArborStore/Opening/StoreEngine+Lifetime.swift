internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Opens a store, or makes one where none exists.
  ///
  /// A file that this process has open already is shared. Each opening ends with ``close()``.
  package static func open(_ opening: StoreOpening) throws(StoreError) -> StoreEngine {
    try StoreOpener(opening).open()
  }

  /// Ends one opening of the store; the last one closes the file.
  ///
  /// - Parameter compacting: Whether the last one gives free pages back before, where there are
  ///   many and it takes a moment only.
  package func close(compacting: Bool = false) {
    if StoreRegistry.shared.isLast(self) {
      // What the medium does not have yet is in the log.
      try? settle()
      if compacting { compactIfWorthwhile() }
    }
    if StoreRegistry.shared.close(self) { end() }
  }

  /// Runs `body`, in which this thread waits for others that may write: growth of the map knows
  /// then that it cannot wait for the snapshots of this thread.
  package func whileWaiting<R>(_ body: () throws -> R) rethrows -> R {
    try environment.whileWaiting(body)
  }

  /// Less than this, in bytes, is not worth the trouble.
  private static let leastReclaimed = 16 << 20
  /// Larger files are left to callers that have the time: this much is copied in some hundred
  /// milliseconds.
  private static let mostCopied = 256 << 20

  private func compactIfWorthwhile() {
    // A process that has written nothing leaves that to those that do.
    guard environment.hasCommitted, path != nil,
      let snapshot = try? snapshot(reportsFindings: false)
    else { return }
    let use = try? environment.pageUse(in: snapshot.reader)
    snapshot.close()
    guard let use, use.reclaimable >= Self.leastReclaimed,
      use.reclaimable >= use.fileSize / 4, use.fileSize - use.reclaimable <= Self.mostCopied,
      let held = try? environment.heldSnapshots(), held.isEmpty
    else { return }
    // The scrub behind the store ends with it anyway.
    scrubbing.stop()
    // In use elsewhere, no room, read only by now: it stays as it is.
    try? compact()
  }

  /// Closes the store and removes its files, with those that migrations keep or have left.
  ///
  /// - Throws: `inUse` where something else has it open, or migrates it; it stays open then.
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

  /// The files that migrations keep beside the store's; nil where somebody has removed that.
  private func migrationFiles(_ path: String) throws(StoreError) -> MigrationFiles? {
    do throws(StoreError) { return try MigrationFiles(path: path) } catch {
      if case .missing = error { return nil }
      throw error
    }
  }

  /// Removes all objects and all application metadata in one transaction, those included that are
  /// kept for the way back to a former model. Numbers and unique IDs go on counting.
  package func purge() throws(StoreError) {
    var set = ChangeSet()
    set.purges = true
    _ = try commit(set)
  }

  /// Removes everything in a transaction.
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
    // A deletion moves what cursors stand on, so each begins anew.
    while let entry = try transaction.reader.cursor(databases.arbor).seek(prefix),
      entry.key.starts(with: prefix)
    {
      try transaction.delete(databases.arbor, key: Array(entry.key))
    }
  }

  /// Application metadata.
  package func metadata(_ key: String) throws(StoreError) -> [UInt8]? {
    try storedEntry(StoreFormat.applicationKey(key))
  }
}
