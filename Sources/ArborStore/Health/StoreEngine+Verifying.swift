internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Registers the observer of the first damage that is found. Only the first observer is
  /// registered.
  package func onDamage(_ observer: @escaping @Sendable (StoreError) -> Void) {
    health.observe(observer)
  }

  /// The databases that the file must contain.
  var expectedDatabases: [String: DatabaseFlags] {
    let list = StoreDatabases.list(schema)
    return Dictionary(list.map { ($0.name, $0.flags) }) { first, _ in first }
  }

  /// The databases that the file may contain: the log, and those kept for reverting to a former
  /// model.
  var allowedDatabases: Set<String> {
    var names: Set<String> = [StoreFormat.logDatabase]
    for entry in schema.catalog.entries.values {
      names.insert(StoreFormat.recordDatabase(entry.storedName))
      names.insert(StoreFormat.blobDatabase(entry.storedName))
      for part in entry.relationships.values {
        names.insert(StoreFormat.relationshipDatabase(part.storedName))
        names.insert(StoreFormat.orderDatabase(part.storedName))
      }
    }
    return names
  }

  /// Verifies the pages of the newest commit. A finding makes the store suspect.
  func verifyPages(_ limit: WorkLimit) throws(StoreError) {
    if let finding = health.finding { throw finding }
    do throws(LMDBError) {
      try environment.verifyPages(expecting: expectedDatabases, allowing: allowedDatabases) {
        !limit.admit()
      }
    } catch {
      if let interruption = limit.interruption { throw .interrupted(interruption) }
      if error.isDamage { health.note(StoreError(error)) }
      throw StoreError(error, path: path)
    }
  }

  /// Verifies a file after the machine has stopped, if its last commits may not have reached the
  /// medium and its journal has no commits.
  ///
  /// - Parameter acceptsMissingJournal: Whether the file may be used without its journal.
  /// - Throws: `corrupted` if any part of the file is not in the newest state; `journal` if the
  ///   journal is missing.
  func settleAfterStop(acceptsMissingJournal: Bool) throws(StoreError) {
    let snapshot = try snapshot(reportsFindings: false)
    let isShared: Bool
    do {
      defer { snapshot.close() }
      let reader = try snapshot.reader
      let header = try StoreHeader.read(reader)
      guard header.isJournaled else { return }
      isShared = try reader.entryIfPresent(StoreFormat.sharedKey, in: databases.arbor) != nil
    }
    if let path, !isShared, !acceptsMissingJournal,
      try JournalFile.existing(of: path, forReading: true) == nil,
      try isJournaled()
    {
      throw JournalRecovery.missing(JournalFile.path(of: path))
    }
    do throws(StoreError) { try compareWithDigests() } catch .corrupted(
      let entity, let object, let what)
    {
      let place =
        isShared
        ? "The commits are in the store's shared log: open the store with the log to rebuild it."
        : "The commits were in the store's journal, which is missing: put the journal back before "
          + "you open the store."
      throw .corrupted(
        entity: entity, object: object,
        what: "The machine stopped before the last commits reached the disk. \(place) Found: "
          + "\(what)")
    }
    if isReadOnly { return }
    try journal.settle(self)
    _ = try StoreJournal.endLeft(by: environment)
  }

  /// Whether the newest state says that the store is journaled. Another process may have ended that.
  func isJournaled() throws(StoreError) -> Bool {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    return try StoreHeader.read(snapshot.reader).isJournaled
  }

  /// Compares every part of the file with the digests that its newest transaction has stored.
  ///
  /// - Throws: `corrupted` if a part or the digests themselves are damaged.
  func compareWithDigests() throws(StoreError) {
    // Nothing is written to a file that may have to be put back to its checkpoint.
    try scrub(recordsProgress: false)
  }
}
