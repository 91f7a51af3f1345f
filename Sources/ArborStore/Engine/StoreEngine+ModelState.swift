package import ArborModel
internal import LMDB

extension StoreEngine {
  /// Returns the model state according to a header, read within a transaction, or `nil` if the
  /// model is unchanged.
  func modelState(_ header: HeaderRecord, _ reader: TransactionReader) -> ModelState? {
    if header.modelGeneration != modelGeneration {
      return ModelState(
        phase: .isChanged, fingerprint: header.modelFingerprint,
        isReadable: header.mayBeRead(byGeneration: modelGeneration))
    }
    // A damaged marker is reported when a process tries to write.
    guard header.isBeingMigrated, let marker = try? MigrationMarker.read(reader, databases.arbor)
    else { return nil }
    return ModelState(
      phase: isInPlace ? .isBeingMigrated : .isReplaced, fingerprint: marker.target,
      isReadable: true)
  }

  /// Checks whether the store's file has been replaced by the copy in which it was migrated.
  ///
  /// Only a migration replaces the file of a store with a marker.
  func lookForReplacement() {
    guard modelState?.phase == .isBeingMigrated, !isInPlace else { return }
    noteReplacement()
  }

  /// Whether the path still refers to the store's file. Always `true` for a store in memory.
  package var isInPlace: Bool { path == nil || environment.isInPlace }
}

/// The state of an open store's model in the file, if it has changed since the file was opened.
package struct ModelState: Sendable, Hashable {
  package enum Phase: Sendable, Hashable {
    /// The store is being migrated in a copy of its file.
    case isBeingMigrated
    /// The file has another model.
    case isChanged
    /// The file has been replaced by a file with another model.
    case isReplaced
  }

  package let phase: Phase
  /// The fingerprint of the model that the file has, or is being migrated to.
  package let fingerprint: ModelFingerprint
  /// Whether this process can still read all data of its own model correctly.
  package let isReadable: Bool

  /// Whether later commits can no longer be followed.
  package var endsNews: Bool { phase == .isReplaced || !isReadable }
}
