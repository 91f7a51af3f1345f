internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Opens stores: finds or creates the file, validates it, and binds it to its model.
struct StoreOpener {
  let opening: StoreOpening
  let offer: OfferedModel?

  init(_ opening: StoreOpening) {
    self.opening = opening
    offer = opening.model.map(OfferedModel.init)
  }

  func open() throws(StoreError) -> StoreEngine {
    switch opening.location {
    case .inMemory: try openInMemory()
    case .file(let path): try openFile(path)
    }
  }

  /// Compiles a model with the catalog of its store.
  static func schema(
    _ model: ManagedObjectModel, _ catalog: SchemaCatalog
  ) throws(StoreError) -> ModelSchema {
    do throws(ArborError) {
      return try ModelSchema(model, catalog: catalog)
    } catch {
      throw .invalidModel(error)
    }
  }

  private var environmentOptions: EnvironmentOptions { EnvironmentOptions(opening) }

  // MARK: In memory

  private func openInMemory() throws(StoreError) -> StoreEngine {
    guard let model = try offer?.checked() else {
      throw .notAStore(path: "", what: "An in-memory store has no model. Pass a model.")
    }
    let options = environmentOptions
    let environment = try storing(Environment.openInMemory(options: options))
    try StoreCreation.fill(environment, model, id: UUID())
    return try StoreRegistry.shared.store(on: environment) { () throws(StoreError) in
      try StoreEngine(parts(of: environment, path: nil))
    }
  }

  // MARK: A file

  /// The maximum number of attempts to create a file that other processes repeatedly create and
  /// remove.
  private static var maximumCreations: Int { 16 }

  private func openFile(_ given: String) throws(StoreError) -> StoreEngine {
    var (path, creations) = (given, 0)
    if !opening.isRecovering { try recoverFromJournal(path) }
    while true {
      let environment: Environment
      do throws(LMDBError) {
        environment = try Environment.open(path: path, options: environmentOptions)
      } catch .noSuchFile {
        creations += 1
        guard creations <= Self.maximumCreations else { throw .inUse(path: path) }
        try create(path)
        continue
      } catch .emptyFile where !opening.isReadOnly && opening.model != nil {
        creations += 1
        guard creations <= Self.maximumCreations else { throw .inUse(path: path) }
        path = try StoreFiles.removeEmpty(path)
        continue
      } catch {
        let reason = StoreError(error, path: path)
        guard reason.isCorruption || error.isForeignContent,
          opening.setsDamagedAside, opening.model != nil, !opening.isReadOnly
        else { throw explained(reason, path) }
        try StoreFiles.setAside(path)
        continue
      }
      do throws(StoreError) {
        return try store(on: environment)
      } catch {
        guard try recover(from: error, environment) else {
          throw explained(error, environment.path)
        }
      }
    }
  }

  /// Recovers the store from its journal if necessary. If the options permit that, a store that
  /// cannot be recovered because the file or its journal is damaged is set aside with its journal.
  private func recoverFromJournal(_ path: String) throws(StoreError) {
    do throws(StoreError) { try JournalRecovery.run(at: path, opening) } catch {
      guard
        error.isCorruption || error.isNoStore || error.isDamageOfJournal
          || error.isForeignJournal && isDamaged(path),
        opening.setsDamagedAside, opening.model != nil, !opening.isReadOnly
      else { throw error }
      try StoreFiles.setAside(path)
    }
  }

  /// Whether a file is damaged, so that it can't be determined whether a journal belongs to it.
  private func isDamaged(_ path: String) -> Bool {
    do throws(LMDBError) {
      try Environment.verifyPages(path: path)
      return false
    } catch {
      return error.isForeignContent || StoreError(error, path: path).isCorruption
    }
  }

  /// Opens the store of a file, or returns the one that is already open, and binds it to the model.
  private func store(on environment: Environment) throws(StoreError) -> StoreEngine {
    let store = try StoreRegistry.shared.store(on: environment) { () throws(StoreError) in
      let parts = try migrated(settled(parts(of: environment, path: environment.path)))
      try agree(with: parts)
      let store = StoreEngine(parts)
      try verify(store)
      return store
    }
    // It may already have been open with another model.
    do throws(StoreError) {
      try agree(with: store)
      try refuseWhileMigrating(store)
      try bringModelUpToDate(in: store)
      try store.goOn(with: opening)
      // Processes that created the store concurrently may have died and left files.
      if store.lastSequence == 0, !store.isReadOnly {
        UnfinishedFile.removeAbandoned(beside: environment.path)
      }
    } catch {
      store.close()
      throw error
    }
    return store
  }

  /// Returns the parts of a file after ending the journaling that a dead process has left.
  func settled(_ parts: StoreParts) throws(StoreError) -> StoreParts {
    guard parts.header.isJournaled, !opening.isReadOnly, !opening.isRecovering,
      try isComplete(parts),
      try StoreJournal.endLeft(by: parts.environment)
    else { return parts }
    return try self.parts(of: parts.environment, path: parts.path)
  }

  /// Returns whether a journaled store's file has all commits: the machine has not stopped, or the
  /// journal says so.
  private func isComplete(_ parts: StoreParts) throws(StoreError) -> Bool {
    if parts.header.bootID == StoreHeader.bootID { return true }
    return try JournalRecovery.hasEndedJournal(parts.environment.path)
  }

  private func create(_ path: String) throws(StoreError) {
    guard !opening.isReadOnly, let model = try offer?.checked() else { throw .missing(path: path) }
    _ = try StoreCreation.create(at: path, model, options: environmentOptions)
  }

  /// Handles a file that cannot be used as it is, if the options permit that. Returns `false`
  /// otherwise.
  private func recover(
    from error: StoreError, _ environment: Environment
  ) throws(StoreError) -> Bool {
    guard let offer, !opening.isReadOnly,
      !StoreRegistry.shared.isOpen(environment)
    else { return false }
    let path = environment.path
    switch error {
    case .modelMismatch where opening.replacesOtherModels:
      let model = try offer.checked()
      try StoreFiles.exclusively(environment) { () throws(StoreError) in
        try StoreCreation.replace(path, model, options: environmentOptions)
      }
      return true
    // The file could be opened, so it is only its contents that are not a store.
    case _ where error.isCorruption || error.isNoStore:
      guard opening.setsDamagedAside else { return false }
      try StoreFiles.exclusively(environment) { () throws(StoreError) in
        try StoreFiles.setAside(past: path)
      }
      return true
    default: return false
    }
  }

  // MARK: Validating

  /// Reads the metadata of the file and opens its databases.
  func parts(of environment: Environment, path: String?) throws(StoreError) -> StoreParts {
    let found = try storing(
      environment.openDatabase(StoreFormat.arborDatabase, StoreFormat.arborFlags))
    guard let arbor = found else {
      throw .notAStore(path: path ?? "", what: "The file is a database of another program.")
    }
    let transaction = try storing(path: path, environment.beginRead())
    let header = try StoreHeader.read(transaction.reader, path: path)
    guard header.transactionID == transaction.id else {
      throw .corrupted(
        what: "The header belongs to transaction \(header.transactionID), but the file's last "
          + "transaction is \(transaction.id): another program wrote to the file, or a root page "
          + "is damaged.")
    }
    try refuseWhileMigrating(header, transaction.reader, arbor)
    let (model, digest) = try model(header, transaction.reader, arbor)
    let stored = try transaction.reader.entry(StoreFormat.catalogKey, in: arbor)
    guard let catalog = CatalogCodec.decode(stored) else {
      throw .corrupted(what: "The catalog is damaged.")
    }
    let schema = try Self.schema(model, catalog)
    let layouts = try Self.layouts(of: schema, transaction.reader, arbor)
    let databases = try databases(schema, environment)
    return StoreParts(
      environment: environment, path: path, schema: schema, modelDigest: digest,
      databases: databases, layouts: layouts, header: header, isDurable: opening.isDurable,
      isMigrating: opening.isMigrating, journal: opening.journal)
  }

  /// Returns the layouts that records of a schema's entities may have.
  ///
  /// - Parameter added: Layouts that are not in the file yet.
  static func layouts(
    of schema: ModelSchema, _ reader: TransactionReader, _ arbor: Database,
    adding added: [StoredLayout] = []
  ) throws(StoreError) -> StoreLayouts {
    var layouts: [StoredLayout] = []
    for entity in schema.concreteEntities where entity.layout.number > 1 {
      for number in 1...entity.layout.number {
        let known = added.first {
          $0.layout.entity == entity.number && $0.layout.number == number
        }
        if let known {
          layouts.append(known)
        } else {
          layouts.append(try layout(number, of: entity, reader, arbor))
        }
      }
    }
    return layouts.isEmpty ? StoreLayouts() : try StoreLayouts(layouts, of: schema.entities)
  }

  static func layout(
    _ number: UInt16, of entity: EntitySchema, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> StoredLayout {
    let key = StoreFormat.layoutKey(entity: entity.number, layout: number)
    let bytes = try reader.entry(key, in: arbor)
    let layout = LayoutCodec.decode(
      bytes, entity: entity.number, number: number, seed: entity.layout.seed)
    guard let layout else {
      throw .corrupted(entity: entity.name, what: "The layout \(number) is damaged.")
    }
    return layout
  }

  private func databases(
    _ schema: ModelSchema, _ environment: Environment
  ) throws(StoreError) -> StoreDatabases {
    let list = StoreDatabases.list(schema)
    let opened: [Database?]
    do throws(LMDBError) {
      opened = try environment.openDatabases(list)
    } catch .incompatible {
      throw .corrupted(what: "A database in the file has unexpected flags.")
    } catch {
      throw StoreError(error)
    }
    for (database, wanted) in zip(opened, list) where database == nil {
      throw .corrupted(what: "The database \(wanted.name) is missing.")
    }
    return StoreDatabases(schema, opened: opened.compactMap { $0 })
  }
}

/// The verification of an existing file: root pages, header and databases immediately, everything
/// else as requested by ``StoreOpening``.
extension StoreOpener {
  /// Returns the damage that a verification of all pages finds, if opening failed because the file
  /// is damaged. Otherwise returns the error unchanged.
  ///
  /// If opening failed because the task was cancelled, returns `interrupted`.
  func explained(_ error: StoreError, _ path: String) -> StoreError {
    if case .closed = error, Task<Never, Never>.isCancelled { return .interrupted(.cancelled) }
    guard error.isCorruption, opening.looksForDamage else { return error }
    do throws(LMDBError) {
      try Environment.verifyPages(path: path)
      return error
    } catch {
      if error.isDamage { return StoreError(error) }
    }
    return error
  }

  /// Verifies a newly opened store as requested by the options.
  func verify(_ store: StoreEngine) throws(StoreError) {
    if opening.isRecovering { return }
    if !store.wasWrittenSinceBoot {
      try store.settleAfterStop(acceptsMissingJournal: opening.acceptsMissingJournal)
    }
    // Objects that violate the model's rules are no damage, and have to be corrected in the store.
    if opening.checksEveryPage, let problem = try store.check(checksRules: false).problems.first {
      throw .corrupted(entity: problem.entity, object: problem.object, what: problem.description)
    }
    if opening.looksForDamage { try store.scrubInBackground(after: opening.scrubInterval) }
  }
}
