internal import ArborModel
internal import LMDB

/// Brings a store to a model that asks for other indexes, and differs otherwise at most in what no
/// record depends on: version hash modifiers and the names of transformers.
extension StoreOpener {
  /// What a file consists of, once it has the indexes of the given model, where that is all that
  /// the model changes and the options allow it; otherwise as it was.
  ///
  /// Everything happens in one transaction: after a crash the store is as it was before. Processes
  /// that have the store open with its former model get `modelChanged` at their next transaction,
  /// since the header's generation grows: they can not write past an index they do not know.
  ///
  /// - Throws: `duplicateValues` where a new unique index would hold two objects with the same
  ///   values, `corrupted` for a damaged record. The file is as it was then.
  func withIndexesBuilt(_ parts: StoreParts) throws(StoreError) -> StoreParts {
    guard try wantsOtherIndexes(parts.schema.model, parts.modelDigest), let offer else {
      return parts
    }
    let environment = parts.environment
    let path = parts.path
    try buildIndexes(parts, offer)
    return try self.parts(of: environment, path: path)
  }

  /// Whether a store of a model may be brought to the given one by building and dropping indexes.
  func wantsOtherIndexes(
    _ stored: ManagedObjectModel, _ digest: ModelDigest
  ) throws(StoreError) -> Bool {
    guard opening.buildsIndexes, !opening.isReadOnly, let offer, offer.digest != digest else {
      return false
    }
    let model = try offer.checked()
    return model.recordFingerprint == stored.recordFingerprint
  }

  private func buildIndexes(_ parts: StoreParts, _ offer: OfferedModel) throws(StoreError) {
    let schema = try Self.schema(offer.model, parts.schema.catalog)
    var failure: StoreError?
    do throws(LMDBError) {
      try parts.environment.runWrite { transaction in
        // The closure runs again after the map has grown.
        failure = nil
        do throws(StoreError) {
          return try Self.buildIndexes(parts, schema, offer.digest, transaction)
        } catch {
          failure = error
          return false
        }
      }
    } catch {
      throw StoreError(error, path: parts.path)
    }
    if let failure { throw failure }
  }

  /// - Returns: false where another process has changed the model meanwhile; the file is read anew
  ///   then.
  private static func buildIndexes(
    _ parts: StoreParts, _ schema: ModelSchema, _ digest: ModelDigest,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    let arbor = parts.databases.arbor
    var header = try StoreHeader.read(transaction.reader, arbor, path: parts.path)
    guard header.modelGeneration == parts.header.modelGeneration else { return false }
    guard header.transactionID + 1 == transaction.id else {
      throw .corrupted(
        entity: nil, object: nil,
        what: "Another program has written to the file; check it before it is used on.")
    }
    let changes = IndexChanges(from: parts.schema, to: schema)
    let databases = try storing { () throws(LMDBError) in
      let opened = try transaction.createDatabases(StoreDatabases.list(schema))
      let databases = StoreDatabases(schema, opened: opened)
      for index in databases.indexes where changes.built.contains(index.database.name) {
        try transaction.clear(index.database)
      }
      return databases
    }
    let builder = try IndexBuilder(
      schema, databases, parts.layouts, storeID: header.storeID
    ) { changes.built.contains($0.database.name) }
    try builder.build(transaction)
    let violations = try builder.violations(transaction.reader)
    guard violations.isEmpty else {
      throw .duplicateValues(violations.map { DuplicateValues($0, schema, header.storeID) })
    }
    try storing { () throws(LMDBError) in
      try StoreCreation.put(schema.model, digest, arbor, transaction)
      header.modelGeneration += 1
      header.modelFingerprint = schema.model.fingerprint
      header.transactionID = transaction.id
      header.bootID = StoreHeader.bootID
      try StoreHeader.write(header, arbor, in: transaction)
      for index in parts.databases.indexes where changes.dropped.contains(index.database.name) {
        try transaction.deleteDatabase(index.database)
      }
    }
    return true
  }
}
