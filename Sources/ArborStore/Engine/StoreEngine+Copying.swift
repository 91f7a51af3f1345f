internal import ArborFoundation
internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Writes a consistent copy of the newest commit to a new file. Readers and writers continue.
  ///
  /// - Parameters:
  ///   - compacting: Whether to omit free pages.
  ///   - keepsMarker: Whether the copy keeps this store's migration marker, for the copy that is
  ///     migrated.
  ///   - keepsPosition: Whether the copy keeps this store's position in the log that it shares, for
  ///     copies that continue from there. A copy that keeps the marker also keeps the position.
  /// - Throws: `inputOutput` with `EEXIST` if the target exists, or with `ENOENT` if its folder
  ///   doesn't; `diskFull`.
  package func copy(
    to target: String, compacting: Bool, keepsMarker: Bool = true, keepsPosition: Bool = false
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    // Checked before the time-consuming copy. The last step of the copy checks again.
    if access(target, F_OK) == 0 {
      throw .inputOutput(operation: "copy", path: target, errno: EEXIST)
    }
    if access(Folder.path(of: target), F_OK) != 0 {
      throw .inputOutput(operation: "copy", path: target, errno: errno)
    }
    let isForOthers = !keepsMarker
    let hadMarks = try hasMarks(isForOthers: isForOthers)
    try StoreCreation.install(at: target) { (temporary) throws(StoreError) in
      try storing(
        path: target, environment.copy(to: temporary, compacting: compacting, isUnfinished: true))
      // Otherwise the copy could be ahead of the store after a power failure.
      try waitUntilDurable()
      // The transactions of a compacted file are renumbered, and the header must contain the new
      // number. Another process may have begun a journal meanwhile.
      let hasMarks = try hasMarks(isForOthers: isForOthers)
      guard compacting || hadMarks || hasMarks else { return }
      try StoreCreation.renewHeader(
        of: temporary, dropsMarks: isForOthers, keepsPosition: keepsPosition)
    }
  }

  /// Returns whether the store has marks that a copy must not inherit. Every copy drops the journal
  /// mark; an independent copy also drops those of a migration and of followers, and its positions
  /// in logs.
  private func hasMarks(isForOthers: Bool) throws(StoreError) -> Bool {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    let reader = try snapshot.reader
    let header = try StoreHeader.read(reader, path: path)
    if header.isJournaled { return true }
    guard isForOthers else { return false }
    if header.isBeingMigrated || header.keepsLog { return true }
    for key in StoreFormat.keysOfFollowers
    where try reader.entryIfPresent(key, in: databases.arbor) != nil { return true }
    return false
  }

  /// Frees space by replacing the file with a compacted copy and continuing with it.
  ///
  /// The store stays open in this process, with the same identity, generation, sequence, numbers
  /// and history. Reading continues until the copy is complete; commits wait. Does nothing for a
  /// store in memory.
  ///
  /// - Throws: `inUse` if another process has the file open, or a snapshot does not end;
  ///   `diskFull`, `readOnly`, `modelChanged`, `migrationUnderWay`. In these cases, the file is
  ///   unchanged.
  package func compact() throws(StoreError) {
    guard !isReadOnly else { throw .readOnly(path: path) }
    // If the model has changed in the meantime, this process must not rewrite the store.
    try snapshot().close()
    guard let path else { return }
    try health.permitWriting()
    try journal.settle(self)
    if !isMigrating, let marker = try migrationMarker() { throw .migrationUnderWay(marker) }
    UnfinishedFile.removeAbandoned(beside: path)
    try indexBuilding.paused(self) { () throws(StoreError) in
      // Its snapshot would keep the former file open.
      try scrubbing.paused(self) { () throws(StoreError) in
        try compact(by: storing(path: path, UnfinishedFile(beside: path)))
      }
    }
    notifications.watchReplacement(self)
    try snapshot().close()
  }

  private func compact(by staged: consuming UnfinishedFile) throws(StoreError) {
    let temporary = staged.path
    defer { StoreFiles.discard(temporary) }
    var refusal: StoreError?
    do throws(LMDBError) {
      try environment.compact(by: staged) { transaction throws(LMDBError) in
        do throws(StoreError) { try renewHeader(transaction) } catch {
          refusal = error
          throw .badTransaction
        }
      }
    } catch {
      throw refusal ?? StoreError(error, path: path)
    }
  }

  private func renewHeader(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    var header = try StoreHeader.read(transaction.reader, path: path)
    guard header.modelGeneration == modelGeneration else { throw .modelChanged }
    if header.isBeingMigrated, !isMigrating {
      throw .migrationUnderWay(try MigrationMarker.read(transaction.reader, databases.arbor))
    }
    // Another thread has committed since the journal was settled.
    if header.isJournaled { throw .inUse(path: path) }
    let former = header.transactionID
    header.sign(transaction)
    try StoreHeader.write(header, in: transaction, following: former)
  }
}
