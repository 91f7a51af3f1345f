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
  ///
  /// - Returns: What the file consists of now.
  func broughtOver(_ parts: StoreParts) throws(StoreError) -> StoreParts {
    let list = StoreDatabases.list(parts.schema)
    let lacksBlobs = parts.schema.entities.contains {
      $0.keepsBlobs && parts.databases.blobs($0.index) == nil
    }
    guard parts.isOfEarlierFormat || lacksBlobs, !opening.isReadOnly else { return parts }
    let (environment, path) = (parts.environment, parts.path)
    var failure: StoreError?
    do throws(LMDBError) {
      try environment.runWrite { transaction in
        failure = nil
        do throws(StoreError) {
          return try Self.bringOver(parts, list, transaction)
        } catch {
          failure = error
          return false
        }
      }
    } catch {
      failure = StoreError(error, path: path)
    }
    switch failure {
    case nil: return try self.parts(of: environment, path: path)
    case .diskFull: return parts
    case let failure?: throw failure
    }
  }

  /// - Returns: false where another process was faster, or has changed the model meanwhile.
  private static func bringOver(
    _ parts: StoreParts, _ list: [(name: String, flags: DatabaseFlags)],
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    let arbor = parts.databases.arbor
    var header = try StoreHeader.read(transaction.reader, arbor, path: parts.path)
    guard header.modelGeneration == parts.header.modelGeneration,
      !header.isBeingMigrated || parts.isMigrating
    else { return false }
    guard header.transactionID + 1 == transaction.id else {
      throw .corrupted(
        entity: nil, object: nil,
        what: "Another program has written to the file; check it before it is used on.")
    }
    _ = try storing { () throws(LMDBError) in try transaction.createDatabases(list) }
    let key = StoreFormat.catalogKey
    if CatalogCodec.isWithoutStoredNames(try entry(key, transaction.reader, arbor)) {
      try storing { () throws(LMDBError) in
        try StoreCreation.put(
          key, CatalogCodec.encode(parts.schema.catalog), arbor, transaction)
      }
    }
    header.transactionID = transaction.id
    header.bootID = StoreHeader.bootID
    let written = header
    try storing { () throws(LMDBError) in
      try StoreHeader.write(written, arbor, in: transaction)
    }
    return true
  }
}
