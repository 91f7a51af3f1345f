internal import ArborModel
internal import LMDB

/// Brings a store of an earlier format to the present one.
extension StoreOpener {
  /// Gives a file of the formats 1 and 2 the stored names of its databases, which are those of the
  /// model, and one of format 1.1 the databases of large binaries, in one transaction; nothing in a
  /// file that is opened for reading only. Nothing moves.
  ///
  /// On a full disk the next opening tries again: what reads a file of an earlier format reads one
  /// that was written on as well.
  func broughtOver(_ parts: StoreParts) throws(StoreError) -> StoreParts {
    let lacksBlobs = parts.schema.entities.contains {
      $0.keepsBlobs && parts.databases.blobs($0.index) == nil
    }
    guard parts.isOfEarlierFormat || lacksBlobs, !opening.isReadOnly else { return parts }
    let (environment, path) = (parts.environment, parts.path)
    do throws(StoreError) {
      try environment.write(path: path) { (transaction) throws(StoreError) in
        try Self.bringOver(parts, transaction)
      }
    } catch .diskFull {
      return parts
    } catch {
      throw error
    }
    return try self.parts(of: environment, path: path)
  }

  /// - Returns: false where another process was faster, or has changed the model meanwhile.
  private static func bringOver(
    _ parts: StoreParts, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    let arbor = parts.databases.arbor
    var header = try StoreHeader.read(transaction.reader, arbor, path: parts.path)
    guard header.modelGeneration == parts.header.modelGeneration,
      !header.isBeingMigrated || parts.isMigrating
    else { return false }
    try header.checkPrecedes(transaction)
    _ = try storing(transaction.createDatabases(StoreDatabases.list(parts.schema)))
    let key = StoreFormat.catalogKey
    if CatalogCodec.isWithoutStoredNames(try transaction.reader.entry(key, in: arbor)) {
      try StoreCreation.put(key, CatalogCodec.encode(parts.schema.catalog), arbor, transaction)
    }
    header.sign(transaction)
    try StoreHeader.write(header, arbor, in: transaction)
    return true
  }
}
