internal import LMDB

extension StoreEngine {
  /// Returns the marker of the migration that is under way in a copy of the file, or `nil` if there
  /// is none.
  package func migrationMarker() throws(StoreError) -> MigrationMarker? {
    try read { (reader) throws(StoreError) in
      let header = try StoreHeader.read(reader, path: path)
      return header.isBeingMigrated ? try MigrationMarker.read(reader, databases.arbor) : nil
    }
  }

  /// Starts a migration in a copy: from now on, commits are rejected in every process, except those
  /// of stores that were opened with ``StoreOpening/isMigrating``. The marker is durable when this
  /// method returns.
  ///
  /// Later copies of the file contain the marker, too. Does nothing if it already exists.
  ///
  /// - Throws: `migrationUnderWay` if there is a marker of another plan.
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

  /// Ends or abandons a migration in a copy, so that commits are accepted again. Does nothing if
  /// none is under way.
  package func removeMigrationMarker() throws(StoreError) {
    let isUnderWay = try read { (reader) throws(StoreError) in
      try StoreHeader.read(reader, path: path).isBeingMigrated
    }
    guard isUnderWay else { return }
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
  /// Throws if a file that is opened for writing is being migrated in a copy.
  func refuseWhileMigrating(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) {
    guard header.isBeingMigrated, !opening.isReadOnly, !opening.isMigrating else { return }
    throw .migrationUnderWay(try MigrationMarker.read(reader, arbor))
  }

  /// Throws if a store that is opened for writing, which may already be open in this process, is
  /// being migrated in a copy.
  func refuseWhileMigrating(_ store: StoreEngine) throws(StoreError) {
    guard !opening.isReadOnly, !opening.isMigrating, !store.isReadOnly,
      let marker = try store.migrationMarker()
    else { return }
    throw .migrationUnderWay(marker)
  }
}
