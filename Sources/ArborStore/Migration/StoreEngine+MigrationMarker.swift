internal import LMDB

extension StoreEngine {
  /// The migration that is under way in a copy of the file; nil where none exists.
  package func migrationMarker() throws(StoreError) -> MigrationMarker? {
    try read { (reader) throws(StoreError) in
      let header = try StoreHeader.read(reader, databases.arbor, path: path)
      return header.isBeingMigrated ? try MigrationMarker.read(reader, databases.arbor) : nil
    }
  }

  /// Begins a migration in a copy: from now on all commits but those of a store that was opened
  /// with ``StoreOpening/isMigrating`` are refused, in every process. Durable when it returns.
  ///
  /// A copy of the file that is made afterwards has the marker too.
  ///
  /// - Throws: `migrationUnderWay` where another plan's marker is there already; the same one is
  ///   left as it is.
  package func setMigrationMarker(_ marker: MigrationMarker) throws(StoreError) {
    try changeMarker { (transaction, header) throws(StoreError) in
      if header.isBeingMigrated {
        let present = try MigrationMarker.read(transaction.reader, databases.arbor)
        guard present.plan == marker.plan else { throw .migrationUnderWay(present) }
        return
      }
      header.isBeingMigrated = true
      let key = StoreFormat.migrationKey
      try StoreCreation.put(key, marker.encoded(), databases.arbor, transaction)
    }
  }

  /// Ends a migration in a copy, or gives it up: commits go on. Nothing happens where none is under
  /// way.
  package func removeMigrationMarker() throws(StoreError) {
    try changeMarker { (transaction, header) throws(StoreError) in
      header.isBeingMigrated = false
      try StoreCreation.remove(StoreFormat.migrationKey, databases.arbor, transaction)
    }
  }

  private func changeMarker(
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    try runTransaction(passesMarker: true, body)
    try storing(environment.synchronize())
  }
}

extension StoreOpener {
  /// Refuses a file that is being migrated in a copy to callers that want to write to it.
  func refuseWhileMigrating(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) {
    guard header.isBeingMigrated, !opening.isReadOnly, !opening.isMigrating else { return }
    throw .migrationUnderWay(try MigrationMarker.read(reader, arbor))
  }

  /// The same of a store that may have been open already.
  func refuseWhileMigrating(_ store: StoreEngine) throws(StoreError) {
    guard !opening.isReadOnly, !opening.isMigrating, !store.isReadOnly,
      let marker = try store.migrationMarker()
    else { return }
    throw .migrationUnderWay(marker)
  }
}
