internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// A change of the model in place, as a commit of the log.
///
/// ```
/// format u8 = 1 · kind u8 = 3 · generation u32 · history entry
/// · are all losses permitted u8 · names of permitted losses
/// · models: count · for each, oldest first: its JSON · digest u128 of the last one
/// · crc32c of the catalog u32 · crc32c u32
/// ```
///
/// The generation is that of the new model. Without models, the change is a reversal. Like other
/// commits, it is a function of the state before it, so that replaying it in a copy of the store
/// results in the same catalog, which the checksum verifies. The format, the encoding of counts and
/// the seed of the checksum are those of ``LoggedCommitCodec``.
package struct LoggedModelChange: Sendable {
  /// The commit that is being replayed.
  struct Recorded: Sendable {
    let sequence: UInt64
    let generation: UInt32
    let history: [UInt8]
    /// The checksum of the catalog after the change.
    let catalog: UInt32
  }

  /// The model that the store is migrated to, after the versions between, oldest first; empty for a
  /// reversal.
  let models: [ManagedObjectModel]
  /// The digest of the last model.
  let digest: ModelDigest
  /// The names of data that may be dropped, or `nil` for all.
  let names: Set<String>?
  let recorded: Recorded?

  /// Creates a change that has not been made yet.
  init(
    to models: [ManagedObjectModel] = [], digest: ModelDigest = ModelDigest(bits: 0),
    dropping names: Set<String>?
  ) {
    (self.models, self.digest, self.names) = (models, digest, names)
    recorded = nil
  }

  // MARK: Writing

  /// Writes the change's entry to the history and, if commits are kept for followers, to the log.
  ///
  /// - Parameters:
  ///   - header: The header, which already has the number and the generation of the change.
  ///   - schema: The new model.
  ///   - isKept: Whether the log of the file receives the change.
  ///   - database: The history.
  /// - Throws: `corrupted` if the change is replayed and has another result than in the original.
  func record(
    _ header: inout HeaderRecord, _ schema: ModelSchema, isKept: Bool = true,
    _ database: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let catalog = Checksum.of(CatalogCodec.encode(schema.catalog))
    if let recorded {
      guard recorded.sequence == header.sequence, recorded.generation == header.modelGeneration,
        recorded.catalog == catalog
      else { throw Self.unrepeatable(recorded.sequence) }
    }
    // For processes that may continue to read, nothing has changed.
    let history = header.readableGenerations > 0 ? CommitHistory.nothing : .everything
    let entry =
      recorded?.history ?? history.encoded(sequence: header.sequence, date: Date(), schema)
    try storing(CommitHistory.write(entry, behind: &header, database, transaction))
    guard isKept, header.keepsLog else { return }
    let bytes = encoded(header, history: entry, catalog: catalog)
    try storing(StoreLog.append(bytes, of: header.sequence, transaction))
  }

  private func encoded(_ header: HeaderRecord, history: [UInt8], catalog: UInt32) -> [UInt8] {
    var writer = LoggedCommitCodec.beginModelChange(header.modelGeneration, history)
    writer.append(UInt8(names == nil ? 1 : 0))
    writer.appendVariable(UInt64(names?.count ?? 0))
    for name in (names ?? []).sorted() { writer.appendRun(name.utf8) }
    writer.appendVariable(UInt64(models.count))
    for model in models { writer.appendRun(ModelCodec.encode(model)) }
    writer.append(digest.bits)
    writer.append(catalog)
    writer.appendChecksum(seed: Checksum.seed(key: header.sequence))
    return writer.bytes
  }

  // MARK: Reading

  /// Decodes a change of the model. Returns `nil` for other commits and for damaged bytes.
  package init?(_ bytes: UnsafeRawBufferPointer, sequence: UInt64) {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      let (generation, history) = LoggedCommitCodec.readModelChange(&reader),
      let dropsAll: UInt8 = reader.read(), let count = reader.readVariable()
    else { return nil }
    var names: Set<String> = []
    for _ in 0..<count {
      guard let name = reader.readText() else { return nil }
      names.insert(name)
    }
    guard let modelCount = reader.readVariable() else { return nil }
    var models: [ManagedObjectModel] = []
    for _ in 0..<modelCount {
      guard let run = reader.readRun(), let model = try? ModelCodec.decode(run) else { return nil }
      models.append(model)
    }
    guard let digest: UInt128 = reader.read(), let catalog: UInt32 = reader.read(), reader.isAtEnd
    else { return nil }
    self.models = models
    self.digest = ModelDigest(bits: digest)
    self.names = dropsAll == 1 ? nil : names
    recorded = Recorded(
      sequence: sequence, generation: generation, history: history, catalog: catalog)
  }

  static func unrepeatable(_ sequence: UInt64) -> StoreError {
    .corrupted(
      what: "The log's commit \(sequence), a change of the model, doesn't lead to the same model "
        + "here as in the original store. Restore an earlier commit, or one after the next "
        + "snapshot.")
  }
}

extension StoreEngine {
  /// Replays a change of the model in a file, which must not be open, in one transaction.
  ///
  /// - Throws: `corrupted` if the change doesn't fit the file; `inUse` if the file is open; other
  ///   errors of opening a store. In these cases, nothing is written.
  package static func replay(
    _ change: LoggedModelChange, at path: String
  ) throws(StoreError) {
    guard let recorded = change.recorded else { return }
    let isDone: Bool
    do throws(StoreError) {
      isDone = try Self.change(at: path) { (parts, transaction) throws(StoreError) in
        guard let model = change.models.last else { return try revert(parts, change, transaction) }
        let migration = try LightweightMigration(
          from: parts.schema, parts.header.modelFingerprint, to: model, dropping: change.names,
          via: change.models.dropLast())
        return try StoreOpener.migrate(
          parts, migration, change, transaction, indexingAtOnce: .max)
      }
    } catch {
      switch error {
      case .modelMismatch, .notReverted, .duplicateValues, .exhausted, .invalidModel:
        throw LoggedModelChange.unrepeatable(recorded.sequence)
      default: throw error
      }
    }
    guard isDone else { throw LoggedModelChange.unrepeatable(recorded.sequence) }
  }
}
