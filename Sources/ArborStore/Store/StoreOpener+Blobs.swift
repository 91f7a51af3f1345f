internal import ArborModel
internal import LMDB

/// Brings a store of an earlier format to the one in which large binaries can lie outside.
extension StoreOpener {
  /// Makes the databases of blobs where a file of format 1.1 lacks them; nothing in a file that is
  /// opened for reading only.
  ///
  /// - Returns: Whether there were some to make.
  func makeBlobDatabases(
    _ schema: ModelSchema, _ environment: Environment, path: String?
  ) throws(StoreError) -> Bool {
    let list = StoreDatabases.blobList(schema)
    guard !list.isEmpty, !opening.isReadOnly else { return false }
    let opened = try storing { () throws(LMDBError) in try environment.openDatabases(list) }
    guard opened.contains(where: { $0 == nil }) else { return false }
    var failure: StoreError?
    do throws(LMDBError) {
      try environment.runWrite { transaction in
        failure = nil
        do throws(StoreError) {
          try Self.makeBlobDatabases(list, transaction, path: path)
          return true
        } catch {
          failure = error
          return false
        }
      }
    } catch {
      throw StoreError(error, path: path)
    }
    if let failure { throw failure }
    return true
  }

  private static func makeBlobDatabases(
    _ list: [(name: String, flags: DatabaseFlags)], _ transaction: borrowing WriteTransaction,
    path: String?
  ) throws(StoreError) {
    let opened = try storing { () throws(LMDBError) in
      _ = try transaction.createDatabases(list)
      return try transaction.createDatabases([
        (name: StoreFormat.arborDatabase, flags: StoreFormat.arborFlags)
      ])
    }
    var header = try StoreHeader.read(transaction.reader, opened[0], path: path)
    guard header.transactionID + 1 == transaction.id else {
      throw .corrupted(
        entity: nil, object: nil,
        what: "Another program has written to the file; check it before it is used on.")
    }
    header.transactionID = transaction.id
    header.bootID = StoreHeader.bootID
    let written = header
    try storing { () throws(LMDBError) in
      try StoreHeader.write(written, opened[0], in: transaction)
    }
  }
}
