internal import ArborModel
internal import LMDB

/// Restores the model that a store had before its last migration, exactly as it was, if nothing has
/// been committed since.
struct MigrationReversal {
  private let former: FormerModel
  private let present: ModelSchema
  /// The former model, with a catalog that retires the additional numbers of the present model.
  private let schema: ModelSchema

  init(_ former: FormerModel, _ present: ModelSchema) throws(StoreError) {
    self.former = former
    self.present = present
    do throws(ArborError) {
      schema = try ModelSchema(
        former.schema, storedAs: former.schema.catalog.retiring(present.catalog))
    } catch {
      throw .exhausted(error.message)
    }
  }

  /// Returns the indexes to rebuild, because they were replaced, removed or are not filled yet.
  private func rebuilt(_ unfinished: IndexBuildList) -> Set<SchemaCatalog.PartName> {
    let old = former.schema
    let changes = IndexChanges(
      from: old, to: present, refilling: old.model.difference(to: present.model),
      isOfOtherVersion: former.fingerprint != old.model.fingerprint)
    let untouched = changes.carried.filter { !changes.built.contains($0.key) }
    var names: Set<SchemaCatalog.PartName> = []
    for entity in old.entities {
      for index in entity.indexes where index.declaringEntity == entity.index {
        names.insert(SchemaCatalog.PartName(entity.name, index.name))
      }
    }
    let isReady = { (name: SchemaCatalog.PartName) in
      let part = present.catalog.entries[name.entity]?.indexes[name.name]
      return part.map { unfinished.build(of: $0.number) == nil } ?? false
    }
    return names.subtracting(untouched.filter { isReady($0.key) }.values)
  }

  /// Restores the model in a transaction, provided that no object was changed since the migration.
  func perform(
    _ header: inout HeaderRecord, _ change: LoggedModelChange, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let unfinished = try IndexBuildList.read(header, transaction.reader, arbor)
    try IndexBuildList().write(&header, arbor, transaction)
    try FormerModel.drop(StoreDatabases.list(present), notIn: schema, transaction)
    try forgetLayouts(arbor, transaction)
    let catalog = CatalogCodec.encode(schema.catalog)
    try StoreCreation.put(StoreFormat.catalogKey, catalog, arbor, transaction)
    try StoreCreation.put(schema.model, ModelDigest(schema.model), arbor, transaction)
    try StoreCreation.remove(StoreFormat.formerKey, arbor, transaction)
    let opened = try storing(transaction.createDatabases(StoreDatabases.list(schema)))
    let databases = StoreDatabases(schema, opened: opened)
    let violations = try StoreOpener.buildIndexes(
      rebuilt(unfinished), schema, databases,
      try StoreOpener.layouts(of: schema, transaction.reader, arbor), storeID: header.storeID,
      transaction)
    guard violations.isEmpty else {
      throw .duplicateValues(violations.map { DuplicateValues($0, schema, header.storeID) })
    }
    header.beginGeneration(leavesReaders: false)
    header.modelFingerprint = schema.model.fingerprint
    try header.checkHasNext()
    header.sequence += 1
    try change.record(&header, schema, databases.history, transaction)
  }

  /// Removes the layouts that no record uses.
  private func forgetLayouts(
    _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let old = Dictionary(
      former.schema.entities.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
    for entity in present.concreteEntities {
      let last = entity.layout.number
      guard let before = old[entity.number], !before.isAbstract else {
        try FormerModel.forget(entity, layouts: 1...last, arbor, transaction)
        continue
      }
      guard last > before.layout.number else { continue }
      for layout in (before.layout.number + 1)...last {
        let key = StoreFormat.layoutKey(entity: entity.number, layout: layout)
        try StoreCreation.remove(key, arbor, transaction)
      }
    }
  }
}

extension StoreEngine {
  /// Restores the model that a store had before its last migration, in one transaction. This
  /// process must not have the store open.
  ///
  /// Other processes that have it open get `modelChanged` at their next transaction.
  ///
  /// - Parameter names: The names in the present model of data written since then that may be
  ///   dropped, or `nil` for all.
  /// - Returns: `false` if the last migration is confirmed, or there was none.
  /// - Throws: `inUse` if this process has the store open; `migrationUnderWay` if it is being
  ///   migrated in a copy; `notReverted` if data was committed since then that the former model
  ///   cannot represent; `missing`, `corrupted` and other errors of opening a store. In these
  ///   cases, the file is unchanged.
  package static func revertMigration(
    at path: String, dropping names: Set<String>?
  ) throws(StoreError) -> Bool {
    try change(at: path) { (parts, transaction) throws(StoreError) in
      try revert(parts, LoggedModelChange(dropping: names), transaction)
    }
  }

  /// Runs `body` with the parts of a file, in a transaction that commits if it returns `true`.
  ///
  /// - Throws: `inUse` if this process has the file open; errors of `body` and of opening a store.
  static func change(
    at path: String,
    _ body: (StoreParts, borrowing WriteTransaction) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let opening = StoreOpening(.file(path), model: nil)
    try JournalRecovery.run(at: path, opening)
    let environment = try storing(path: path, Environment.open(path: path))
    guard !StoreRegistry.shared.isOpen(environment) else { throw .inUse(path: environment.path) }
    defer { try? environment.close() }
    let opener = StoreOpener(opening)
    let parts = try opener.settled(opener.parts(of: environment, path: environment.path))
    var isChanged = false
    try StoreJournal.writeUnjournaled(environment, path: parts.path) {
      (transaction) throws(StoreError) in
      isChanged = try body(parts, transaction)
      return isChanged
    }
    return isChanged
  }

  static func revert(
    _ parts: StoreParts, _ change: LoggedModelChange, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    let arbor = parts.databases.arbor
    var header = try StoreHeader.read(transaction.reader, path: parts.path)
    guard let former = try FormerModel.read(transaction.reader, arbor) else { return false }
    guard header.modelGeneration == parts.header.modelGeneration else { throw .modelChanged }
    try header.checkPrecedes(transaction)
    guard header.sequence == former.sequence else {
      // Later changes are kept if the former model can represent them.
      let model = former.schema.model
      let migration = try LightweightMigration(
        from: parts.schema, header.modelFingerprint, to: model, dropping: change.names,
        returning: former)
      return try StoreOpener.migrate(
        parts, migration, change, transaction, indexingAtOnce: .max)
    }
    try MigrationReversal(former, parts.schema).perform(&header, change, arbor, transaction)
    header.sign(transaction)
    try StoreHeader.write(header, in: transaction)
    return true
  }
}
