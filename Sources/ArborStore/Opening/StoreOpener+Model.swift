internal import ArborModel
internal import LMDB

/// Compares the given model with the stored one: the same model, the same with other metadata, or a
/// different model.
extension StoreOpener {
  /// Returns the model to open a file with, and the model's digest. That is the given model if it
  /// is the same as the file's, which avoids decoding the stored one. If only parts differ that don't
  /// affect stored bytes, it is the given model with the parts of JSON that the stored one describes.
  func model(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> (ManagedObjectModel, ModelDigest) {
    if let offer {
      if try storedDigest(reader, arbor) == offer.digest { return (offer.model, offer.digest) }
    }
    let model = try ModelCodec.decode(reader.entry(StoreFormat.modelKey, in: arbor))
    if let offer, let both = joined(try offer.checked(), with: model, header.modelFingerprint) {
      return (both, ModelDigest(both))
    }
    // A different stored digest indicates that the file was written with other rules for text
    // folding.
    return (model, try storedDigest(reader, arbor) ?? ModelDigest(model))
  }

  /// Throws if a store's model differs from the given one.
  func agree(with store: StoreEngine) throws(StoreError) {
    try agree(store.schema, store.modelDigest, store.modelFingerprint, path: store.path) {
      (migration) throws(StoreError) in
      try store.checks(migration) { (checks) throws(StoreError) in
        try checks.present(migration.obstacles)
      }
    }
  }

  /// Throws if a file's model differs from the given one.
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
    if let both = joined(model, with: schema.model, fingerprint) {
      // A program that is running doesn't learn of parts that a newer one adds.
      guard both.shapes == schema.model.shapes else { throw .inUse(path: path) }
      return
    }
    try refuseUnrelatedParts(of: model, schema.model)
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

  /// Updates the stored model if the given one differs only in parts that don't affect stored
  /// bytes, such as named requests, so that programs that open the file without a model, and tools,
  /// see the newest version.
  ///
  /// The generation and the commit sequence stay the same: no object changes, and processes that
  /// have the store open with another version continue. On a full disk, the next opening tries
  /// again.
  func bringModelUpToDate(in store: StoreEngine) throws(StoreError) {
    guard let offer, !store.isReadOnly, store.path != nil else { return }
    let arbor = store.databases.arbor
    let stored = try store.read { (reader) throws(StoreError) in try storedDigest(reader, arbor) }
    if stored == offer.digest { return }
    let known = offer.model.joiningShapes(of: store.schema.model)
    if let known, stored == ModelDigest(known) { return }
    do throws(StoreError) {
      try store.runTransaction { (transaction, _) throws(StoreError) in
        // Another process may have added parts of JSON.
        let stored = try transaction.reader.entry(StoreFormat.modelKey, in: arbor)
        guard let both = offer.model.joiningShapes(of: try ModelCodec.decode(stored)) else {
          return
        }
        try StoreCreation.put(both, ModelDigest(both), arbor, transaction)
      }
    } catch .diskFull {
    } catch {
      throw error
    }
  }

  /// Returns the given model with the parts of JSON that a store's model describes, or `nil` if the
  /// store has to be migrated to it.
  func joined(
    _ model: ManagedObjectModel, with stored: ManagedObjectModel, _ fingerprint: ModelFingerprint
  ) -> ManagedObjectModel? {
    model.fingerprint == fingerprint ? model.joiningShapes(of: stored) : nil
  }

  /// Throws if the models have the same fingerprint, but a part of JSON has unrelated types.
  func refuseUnrelatedParts(
    of model: ManagedObjectModel, _ stored: ManagedObjectModel
  ) throws(StoreError) {
    let obstacles = MigrationObstacle.unrelatedParts(from: stored, to: model)
    guard obstacles.isEmpty else {
      throw .modelMismatch(MigrationRefusal(.obstacles, obstacles: obstacles))
    }
  }

  /// Returns the stored digest, or `nil` if none has been written yet.
  private func storedDigest(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> ModelDigest? {
    try reader.entryIfPresent(StoreFormat.modelDigestKey, in: arbor)
      .flatMap { ModelCodec.decodeDigest($0) }
  }
}

/// The model that a store is opened with. Its digest is computed immediately, but the model is
/// validated only if necessary.
///
/// Validating a model takes longer than opening the store, so a model with the digest of the stored
/// one is accepted without validation: the stored one has already been validated.
struct OfferedModel {
  /// The model, with values in the form in which they are stored.
  let model: ManagedObjectModel
  let digest: ModelDigest

  init(_ model: ManagedObjectModel) {
    self.model = model.withFittingValues()
    digest = ModelDigest(self.model)
  }

  /// Returns the model after validating it.
  ///
  /// - Throws: `invalidModel`.
  func checked() throws(StoreError) -> ManagedObjectModel {
    do throws(ArborError) { return try model.validated() } catch { throw .invalidModel(error) }
  }
}
