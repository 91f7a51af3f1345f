internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Migrates a store to the model that it is opened with, if that requires neither code nor access
/// to its objects except to fill indexes.
extension StoreOpener {
  /// Returns the parts of a file after migrating it to the given model, if the options permit that.
  /// Otherwise returns the parts unchanged.
  ///
  /// Everything happens in one transaction: after a crash, the store is unchanged. Indexes of
  /// entities with many objects are filled afterwards by ``OnlineIndexBuilder``. Processes that
  /// have the store open with its former model keep their snapshots and get `modelChanged` at their
  /// next commit, because the header's generation has increased: they cannot overwrite data that
  /// they don't know. They also get it at their next snapshot, unless
  /// ``LightweightMigration/leavesReadersRight`` indicates that they cannot misread later data.
  ///
  /// - Throws: `modelMismatch` if changes or objects prevent the migration, including objects with
  ///   equal values in a new unique index; `corrupted` for a damaged record. In these cases, the
  ///   file is unchanged.
  func migrated(_ parts: StoreParts) throws(StoreError) -> StoreParts {
    guard let offer, offer.digest != parts.modelDigest, !opening.isReadOnly,
      case .lightweight(let names) = opening.migration
    else { return parts }
    let model = try offer.checked()
    let stored = parts.schema.model
    guard joined(model, with: stored, parts.header.modelFingerprint) == nil else { return parts }
    try refuseUnrelatedParts(of: model, stored)
    let migration = try LightweightMigration(
      from: parts.schema, parts.header.modelFingerprint, to: model, dropping: names,
      via: opening.versionsBetween, isStaged: opening.isStaged)
    let (environment, path) = (parts.environment, parts.path)
    if !migration.obstacles.isEmpty { try Self.refuseObstacles(parts, migration) }
    let most = opening.maximumObjectsIndexedAtOnce
    let change = LoggedModelChange(
      to: opening.versionsBetween + [model], digest: offer.digest, dropping: names)
    try Self.refuseDuplicates(parts, migration, indexingAtOnce: most)
    // The migration must not be lost with a journal that another process writes.
    try StoreJournal.writeUnjournaled(environment, path: path) { (transaction) throws(StoreError) in
      try Self.migrate(parts, migration, change, transaction, indexingAtOnce: most)
    }
    return try self.parts(of: environment, path: path)
  }

  /// - Parameters:
  ///   - change: The change of the model as a commit.
  ///   - most: The maximum number of objects of an entity whose indexes are filled in the
  ///     transaction. Ignored if no other process uses the file or the migration is a reversal.
  /// - Returns: `false` if another process has changed the model in the meantime. The file is then
  ///   read again.
  static func migrate(
    _ parts: StoreParts, _ migration: LightweightMigration, _ change: LoggedModelChange,
    _ transaction: borrowing WriteTransaction, indexingAtOnce most: Int
  ) throws(StoreError) -> Bool {
    let arbor = parts.databases.arbor
    var header = try StoreHeader.read(transaction.reader, path: parts.path)
    guard header.modelGeneration == parts.header.modelGeneration,
      !header.isBeingMigrated || parts.isMigrating
    else { return false }
    try header.checkPrecedes(transaction)
    let checks = MigrationChecks(migration, parts, transaction.reader)
    let found = try checks.obstacles()
    guard found.isEmpty else { throw migration.refusal(found) }
    let schema = migration.new
    try header.checkHasNext()
    header.sequence += 1
    // A migration confirms the previous one, unless it is a reversal.
    let earlier = try FormerModel.read(transaction.reader, arbor)
    if !migration.isReversal { try earlier?.forget(parts.schema, arbor, transaction) }
    let databases = try moveDatabases(migration, transaction)
    try storeCatalog(migration, parts, transaction)
    let layouts = try layouts(of: schema, transaction.reader, arbor)
    if migration.isReversal, let earlier {
      try ReturnedValues(migration: migration, parts: parts, former: earlier, layouts: layouts)
        .restore(transaction)
      try ReturnedLinks(
        migration: migration, former: earlier.schema, databases: databases, layouts: layouts
      ).restore(transaction)
      try ReturnedBlobs(migration: migration, databases: databases, layouts: layouts)
        .removeStray(transaction)
    }
    let isAlone = parts.isMigrating || migration.isStaged || migration.isReversal
    let builds = try IndexBuildPlan(
      migration, parts, IndexBuildList.read(header, transaction.reader, arbor), transaction.reader,
      atMost: isAlone ? nil : most)
    _ = try emptied(builds.later, schema, databases, transaction)
    let violations = try buildIndexes(
      builds.atOnce, schema, databases, layouts, storeID: header.storeID, transaction)
    if !violations.isEmpty {
      let search = DuplicateSearch(checks: checks, layouts: layouts, databases: databases)
      throw migration.refusal(try search.obstacles(in: checks.uniqueIndexes(among: builds.atOnce)))
    }
    try builds.list.write(&header, arbor, transaction)
    let former = FormerModel(
      sequence: header.sequence, fingerprint: header.modelFingerprint, schema: migration.old)
    try replace(earlier, with: former, isKept: !isAlone, migration, arbor, transaction)
    try StoreCreation.put(schema.model, ModelDigest(schema.model), arbor, transaction)
    // Its generation notifies other processes.
    header.beginGeneration(leavesReaders: !migration.isReversal && migration.leavesReadersRight)
    header.modelFingerprint = schema.model.fingerprint
    // The file of a migration in a copy has no log of its own.
    let isKept = !parts.isMigrating && !migration.isStaged
    try change.record(&header, schema, isKept: isKept, databases.history, transaction)
    header.sign(transaction)
    try StoreHeader.write(header, in: transaction)
    return true
  }

  /// Keeps the store's previous model as the one to revert to, replacing an earlier one, and drops
  /// the databases that neither the previous nor the newer model needs.
  ///
  /// - Parameter isKept: Whether the migration can be reverted.
  private static func replace(
    _ earlier: FormerModel?, with former: FormerModel, isKept: Bool,
    _ migration: LightweightMigration, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    if isKept {
      try StoreCreation.put(StoreFormat.formerKey, former.encoded(), arbor, transaction)
    } else {
      // The file that the copy was created from still has everything, or the migration is a
      // reversal.
      try former.forget(migration.new, arbor, transaction)
    }
    if migration.isReversal, let earlier {
      // Data that was kept and is now stored elsewhere.
      try FormerModel.drop(StoreDatabases.list(earlier.schema), notIn: migration.new, transaction)
    }
    let droppedIndexes = StoreDatabases.list(migration.old).filter {
      $0.name.hasPrefix(StoreFormat.indexDatabase(""))
    }
    try FormerModel.drop(droppedIndexes, notIn: migration.new, transaction)
  }

  // MARK: Databases

  /// Creates the databases of the newer model that the older one lacks, and copies the entries that
  /// have to move.
  private static func moveDatabases(
    _ migration: LightweightMigration, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> StoreDatabases {
    let former = try storing(transaction.createDatabases(StoreDatabases.list(migration.old)))
    let opened = try storing(transaction.createDatabases(StoreDatabases.list(migration.new)))
    let present = StoreDatabases(migration.new, opened: opened)
    try migration.moves.perform(
      from: StoreDatabases(migration.old, opened: former), to: present, in: migration.new,
      transaction)
    return present
  }

  /// Fills indexes of a schema from its records.
  ///
  /// - Returns: Objects with equal values in unique indexes.
  static func buildIndexes(
    _ names: Set<SchemaCatalog.PartName>, _ schema: ModelSchema, _ databases: StoreDatabases,
    _ layouts: StoreLayouts, storeID: UUID, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UniquenessViolation] {
    let built = try emptied(names, schema, databases, transaction)
    guard !built.isEmpty else { return [] }
    let builder = try IndexBuilder(schema, databases, layouts, storeID: storeID) {
      built.contains($0.database)
    }
    try builder.build(transaction)
    return try builder.violations(transaction.reader)
  }

  /// Clears the databases of indexes and returns them.
  private static func emptied(
    _ names: Set<SchemaCatalog.PartName>, _ schema: ModelSchema, _ databases: StoreDatabases,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Set<Database> {
    let named = databases.indexes.filter {
      let owner = schema.entities[$0.schema.declaringEntity].name
      return names.contains(.init(owner, $0.schema.name))
    }
    return try storing { () throws(LMDBError) in
      for index in named { try transaction.clear(index.database) }
      return Set(named.map(\.database))
    }
  }

  /// Throws if an obstacle prevents the migration, without waiting for a writer.
  private static func refuseObstacles(
    _ parts: StoreParts, _ migration: LightweightMigration
  ) throws(StoreError) {
    let snapshot = try storing(path: parts.path, parts.environment.beginRead())
    let reader = snapshot.reader
    let header = try StoreHeader.read(reader, path: parts.path)
    // The model has changed in the meantime, which the transaction detects.
    guard header.modelGeneration == parts.header.modelGeneration else { return }
    let found = try MigrationChecks(migration, parts, reader).obstacles()
    guard found.isEmpty else { throw migration.refusal(found) }
  }

  /// Throws if objects have equal values in a unique index that is filled only after the migration.
  /// Called before anything has been changed.
  private static func refuseDuplicates(
    _ parts: StoreParts, _ migration: LightweightMigration, indexingAtOnce most: Int
  ) throws(StoreError) {
    guard !parts.isMigrating, !migration.isStaged else { return }
    let snapshot = try storing(path: parts.path, parts.environment.beginRead())
    let reader = snapshot.reader
    let header = try StoreHeader.read(reader, path: parts.path)
    // The model has changed in the meantime, which the transaction detects.
    guard header.modelGeneration == parts.header.modelGeneration else { return }
    let builds = try IndexBuildPlan(migration, parts, IndexBuildList(), reader, atMost: most)
    let checks = MigrationChecks(migration, parts, reader)
    guard !checks.uniqueIndexes(among: builds.later).isEmpty else { return }
    let obstacles = try checks.obstacles() + checks.duplicates()
    guard obstacles.isEmpty else { throw migration.refusal(obstacles) }
  }

  // MARK: The catalog

  /// Writes the catalog of the newer model, the new layouts of entities, and the counters of
  /// entities that had no objects.
  private static func storeCatalog(
    _ migration: LightweightMigration, _ parts: StoreParts,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let arbor = parts.databases.arbor
    let schema = migration.new
    let catalog = CatalogCodec.encode(migration.catalog)
    try StoreCreation.put(StoreFormat.catalogKey, catalog, arbor, transaction)
    for entity in schema.concreteEntities {
      // The counter and the layouts of a restored entity still exist.
      if migration.evolution.returned.contains(entity.name) || migration.hadObjects(entity) {
        continue
      }
      try StoreCounter.write(StoreFormat.objectCounter(entity.number), 1, arbor, transaction)
    }
    for stored in newLayouts(migration) {
      let key = StoreFormat.layoutKey(entity: stored.layout.entity, layout: stored.layout.number)
      try StoreCreation.put(key, LayoutCodec.encode(stored), arbor, transaction)
    }
  }

  /// Returns the layouts that a migration adds.
  static func newLayouts(_ migration: LightweightMigration) -> [StoredLayout] {
    let plans = Dictionary(uniqueKeysWithValues: migration.evolution.entities.map { ($0.name, $0) })
    var layouts: [StoredLayout] = []
    for entity in migration.new.concreteEntities {
      if migration.evolution.returned.contains(entity.name) { continue }
      let plan = plans[entity.name]
      if let plan, migration.hadObjects(entity), !plan.hasNewLayout { continue }
      layouts.append(StoredLayout(entity, nilAsDefault: plan?.nilAsDefault ?? []))
    }
    return layouts
  }
}
