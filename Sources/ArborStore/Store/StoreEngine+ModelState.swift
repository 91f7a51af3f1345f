internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// What a header, read within a transaction, states of the model; nil where it is as this process
  /// knows it.
  func modelState(_ header: HeaderRecord, _ reader: TransactionReader) -> ModelState? {
    if header.modelGeneration != modelGeneration {
      return ModelState(
        phase: .isChanged, fingerprint: header.modelFingerprint,
        isReadable: header.mayBeRead(byGeneration: modelGeneration))
    }
    // A damaged marker is reported by those that want to write.
    guard header.isBeingMigrated, let marker = try? MigrationMarker.read(reader, databases.arbor)
    else { return nil }
    return ModelState(
      phase: isInPlace ? .isBeingMigrated : .isReplaced, fingerprint: marker.target,
      isReadable: true)
  }

  /// Notices that the copy which a store was migrated in has taken its place.
  ///
  /// Only a migration replaces the file of a store with a marker.
  func lookForReplacement() {
    guard modelState?.phase == .isBeingMigrated, !isInPlace else { return }
    noteReplacement()
  }

  private var isInPlace: Bool { path == nil || environment.isInPlace }
}
