internal import ArborFoundation
package import ArborModel
internal import LMDB

/// Creates new stores atomically.
///
/// LMDB's own creation is not atomic: a crash in the middle leaves a file that cannot be opened. A
/// store is therefore filled under a temporary name next to its final one, synced, and renamed. If
/// two processes create the same store, one succeeds and the other opens the result.
package enum StoreCreation {
  /// Fills an empty environment: databases, header, model, catalog, layouts, counters.
  static func fill(
    _ environment: Environment, _ model: ManagedObjectModel, id: UUID
  ) throws(StoreError) {
    let seed = UInt32.random(in: 1 ... .max)
    let schema = try StoreOpener.schema(model, SchemaCatalog(numbering: model, seed: seed))
    let pageSize = try storing(environment.info().pageSize)
    try environment.write(path: nil) { (transaction) throws(StoreError) in
      try fill(transaction, schema, id: id, pageSize)
      return true
    }
  }

  private static func fill(
    _ transaction: borrowing WriteTransaction, _ schema: ModelSchema, id: UUID, _ pageSize: Int
  ) throws(StoreError) {
    let opened = try storing(transaction.createDatabases(StoreDatabases.list(schema)))
    let layouts = schema.concreteEntities.map { StoredLayout($0) }
    let header = HeaderRecord(
      pageSize: UInt32(pageSize), modelGeneration: 1, storeID: id,
      modelFingerprint: schema.model.fingerprint, transactionID: transaction.id,
      bootID: StoreHeader.bootID, sequence: 0)
    try begin(header, schema, layouts, StoreDatabases(schema, opened: opened).arbor, transaction)
  }

  /// Writes the metadata of a store without objects: model, catalog, layouts, counters, and the
  /// header.
  static func begin(
    _ header: HeaderRecord, _ schema: ModelSchema, _ layouts: [StoredLayout],
    _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try put(schema.model, ModelDigest(schema.model), arbor, transaction)
    try put(StoreFormat.catalogKey, CatalogCodec.encode(schema.catalog), arbor, transaction)
    // A new store counts as scrubbed.
    try put(StoreFormat.scrubKey, ScrubRecord(completed: Date()).encoded(), arbor, transaction)
    try StoreCounter.write(StoreFormat.uniqueIDCounter, 1, arbor, transaction)
    for entity in schema.concreteEntities {
      try StoreCounter.write(StoreFormat.objectCounter(entity.number), 1, arbor, transaction)
    }
    for stored in layouts {
      let key = StoreFormat.layoutKey(entity: stored.layout.entity, layout: stored.layout.number)
      try put(key, LayoutCodec.encode(stored), arbor, transaction)
    }
    try storing { () throws(LMDBError) in
      try StoreHeader.writeMark(header, arbor, in: transaction)
      try StoreDigests.begin(transaction)
    }
    try StoreHeader.write(header, in: transaction)
  }

  /// Writes a model and its digest.
  static func put(
    _ model: ManagedObjectModel, _ digest: ModelDigest, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try put(StoreFormat.modelKey, ModelCodec.encode(model), arbor, transaction)
    try put(StoreFormat.modelDigestKey, ModelCodec.encode(digest), arbor, transaction)
  }

  static func put(
    _ key: String, _ value: [UInt8], _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    _ = try storing(transaction.put(arbor, key: Array(key.utf8), value: value))
  }

  static func remove(
    _ key: String, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    _ = try storing(transaction.delete(arbor, key: Array(key.utf8)))
  }

  /// Creates a store at a path. Returns `false` if another process has created one in the meantime.
  static func create(
    at path: String, _ model: ManagedObjectModel, options: EnvironmentOptions
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      try install(at: path) { (temporary) throws(StoreError) in
        try make(at: temporary, model, options: options, path: path)
      }
      return true
    } catch .inputOutput(_, _, errno: EEXIST) {
      return false
    } catch {
      throw error
    }
  }

  /// Creates a store in a temporary file, which `fill` completes before it is renamed to the path.
  ///
  /// - Throws: Errors of `fill`; `inputOutput` with `EEXIST` if the path is taken; `invalidModel`.
  ///   In these cases, no new file is left.
  package static func create(
    at path: String, _ model: ManagedObjectModel,
    filling fill: (String) throws(StoreError) -> Void
  ) throws(StoreError) {
    let model = try OfferedModel(model).checked()
    try install(at: path) { (temporary) throws(StoreError) in
      try make(
        at: temporary, model, options: EnvironmentOptions(StoreOpening(.file(path), model: model)),
        path: path)
      try fill(temporary)
    }
  }

  /// Replaces a file, which no process may have open, with a new store.
  static func replace(
    _ path: String, _ model: ManagedObjectModel, options: EnvironmentOptions
  ) throws(StoreError) {
    try install(at: path, replacing: true) { (temporary) throws(StoreError) in
      try make(at: temporary, model, options: options, path: path)
    }
  }

  /// Calls `fill` with the path of an empty file in the same folder, and renames the file once it
  /// is complete.
  ///
  /// Also removes abandoned files of dead processes. That reads the whole folder, which may be
  /// large: too expensive for every opening, but negligible for a creation, which syncs several
  /// times.
  ///
  /// - Throws: Errors of `fill`; `inputOutput` with `EEXIST` if the file exists and is not to be
  ///   replaced. In these cases, no new file is left.
  package static func install(
    at path: String, replacing: Bool = false, _ fill: (String) throws(StoreError) -> Void
  ) throws(StoreError) {
    UnfinishedFile.removeAbandoned(beside: path)
    let file = try storing(path: path, UnfinishedFile(beside: path))
    let temporary = file.path
    defer { StoreFiles.discard(temporary) }
    try fill(temporary)
    let code = file.rename(to: path, replacing: replacing)
    guard code == 0 else { throw StoreError.failed("rename", path, errno: code) }
    try StoreFiles.synchronizeFolder(of: path)
  }

  /// Updates the header of a closed store with the file's last transaction, and clears the journal
  /// mark.
  ///
  /// - Parameters:
  ///   - dropsMarks: Whether to also clear the mark of a migration, the positions in logs, and the
  ///     commits that are kept for followers.
  ///   - keepsPosition: Whether to keep the position in the shared log in that case.
  static func renewHeader(
    of path: String, dropsMarks: Bool = false, keepsPosition: Bool = false
  ) throws(StoreError) {
    let environment = try storing(path: path, Environment.open(path: path))
    defer { try? environment.close() }
    let arbor = try storing(
      path: path, environment.openDatabase(StoreFormat.arborDatabase, StoreFormat.arborFlags))
    guard let arbor else { throw StoreError(.notFound, path: path) }
    try environment.write(path: path) { (transaction) throws(StoreError) in
      var header = try StoreHeader.read(transaction.reader, path: path)
      let former = header.transactionID
      header.transactionID = transaction.id
      // The copy has been synced, and has no journal.
      header.isJournaled = false
      if dropsMarks {
        header.isBeingMigrated = false
        try remove(StoreFormat.migrationKey, arbor, transaction)
        try storing(path: path, StoreLog.end(&header, arbor, transaction))
        for key in StoreFormat.keysOfFollowers
        where !keepsPosition || key != StoreFormat.sharedKey {
          try remove(key, arbor, transaction)
        }
      }
      try StoreHeader.write(header, in: transaction, following: former)
      return true
    }
  }

  private static func make(
    at temporary: String, _ model: ManagedObjectModel, options: EnvironmentOptions, path: String
  ) throws(StoreError) {
    let environment = try storing(
      path: path, Environment.open(path: temporary, options: options.forCreation))
    defer { try? environment.close() }
    try fill(environment, model, id: UUID())
    // The commit has synced the data. This also syncs the file's size and times.
    try storing(environment.synchronize())
  }
}
