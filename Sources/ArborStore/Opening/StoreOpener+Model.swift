internal import ArborModel
internal import LMDB

/// What the given model is to the stored one: the same, another wording of it, or another model.
extension StoreOpener {
  /// The model to open a file with, and its digest: the given one where it is the file's, which
  /// saves reading that one.
  func model(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> (ManagedObjectModel, ModelDigest) {
    if let offer {
      if try storedDigest(reader, arbor) == offer.digest { return (offer.model, offer.digest) }
      let model = try offer.checked()
      if model.fingerprint == header.modelFingerprint { return (model, offer.digest) }
    }
    let model = try ModelCodec.decode(reader.entry(StoreFormat.modelKey, in: arbor))
    // The stored digest tells that the file was written with other rules about folded texts.
    return (model, try storedDigest(reader, arbor) ?? ModelDigest(model))
  }

  /// Refuses a store of another model than the given one.
  func agree(with store: StoreEngine) throws(StoreError) {
    try agree(store.schema, store.modelDigest, store.modelFingerprint, path: store.path) {
      (migration) throws(StoreError) in
      try store.checks(migration) { (checks) throws(StoreError) in
        try checks.present(migration.obstacles)
      }
    }
  }

  /// Refuses a file of another model than the given one.
  func agree(with parts: StoreParts) throws(StoreError) {
    try agree(parts.schema, parts.modelDigest, parts.header.modelFingerprint, path: parts.path) {
      $0.obstacles
    }
  }

  private func agree(
    _ schema: ModelSchema, _ digest: ModelDigest, _ fingerprint: ModelFingerprint, path: String?,
    _ obstacles: (LightweightMigration) throws(StoreError) -> [MigrationObstacle]
  ) throws(StoreError) {
    guard let offer, offer.digest != digest else { return }
    let model = try offer.checked()
    guard model.fingerprint != fingerprint else { return }
    guard case .lightweight(let names) = opening.migration else {
      throw .modelMismatch(MigrationRefusal(.options, schema.model.difference(to: model)))
    }
    guard !opening.isReadOnly else {
      throw .modelMismatch(MigrationRefusal(.isReadOnly, schema.model.difference(to: model)))
    }
    // A store that is open in this process keeps its model, even if it could be migrated.
    let migration = try LightweightMigration(
      from: schema, fingerprint, to: model, dropping: names, via: opening.versionsBetween)
    let found = try obstacles(migration)
    guard found.isEmpty else { throw migration.refusal(found) }
    throw .inUse(path: path)
  }

  /// Writes the given model into the file where the one there says something else that does not
  /// concern stored bytes, such as named requests, so that a program that opens the file without a
  /// model and every tool sees the newest.
  ///
  /// The generation and the commit sequence stay: no object changes, and processes that have the
  /// store open with another wording go on. On a full disk the next opening tries again.
  func bringModelUpToDate(in store: StoreEngine) throws(StoreError) {
    guard let offer, !store.isReadOnly, store.path != nil else { return }
    let arbor = store.databases.arbor
    let stored = try store.read { (reader) throws(StoreError) in try storedDigest(reader, arbor) }
    if stored == offer.digest { return }
    do throws(StoreError) {
      try store.runTransaction { (transaction, _) throws(StoreError) in
        try StoreCreation.put(offer.model, offer.digest, arbor, transaction)
      }
    } catch .diskFull {
    } catch {
      throw error
    }
  }

  /// nil where the file has none, as one that no digest was written to yet.
  private func storedDigest(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> ModelDigest? {
    try reader.entryIfPresent(StoreFormat.modelDigestKey, in: arbor)
      .flatMap { ModelCodec.decodeDigest($0) }
  }
}

/// The model that a store is opened with, and what of it has to be known at which time.
///
/// Checking a model takes longer than opening the store, so a model with the digest of the stored
/// one is taken as it is: that one has passed the rules.
struct OfferedModel {
  /// With values in the form that a store keeps.
  let model: ManagedObjectModel
  let digest: ModelDigest

  init(_ model: ManagedObjectModel) {
    self.model = model.withFittingValues()
    digest = ModelDigest(self.model)
  }

  /// The model, if it passes all rules.
  ///
  /// - Throws: `invalidModel`.
  func checked() throws(StoreError) -> ManagedObjectModel {
    do throws(ArborError) { return try model.validated() } catch { throw .invalidModel(error) }
  }
}
