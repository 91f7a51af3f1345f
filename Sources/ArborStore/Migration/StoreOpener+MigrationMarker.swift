internal import LMDB

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
