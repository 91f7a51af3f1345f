internal import LMDB

extension MigrationMarker {
  /// The marker of a transaction's state, whose header says that there is one.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> MigrationMarker {
    let bytes = try reader.entry(StoreFormat.migrationKey, in: arbor)
    guard let marker = MigrationMarker(bytes) else {
      throw .corrupted(what: "The entry \(StoreFormat.migrationKey) is damaged.")
    }
    return marker
  }
}
