package import ArborModel
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

/// What an open store's file states of its model, where that differs from what it stated when the
/// file was opened.
package struct ModelState: Sendable, Hashable {
  package enum Phase: Sendable, Hashable {
    /// The store is being migrated in a copy of its file.
    case isBeingMigrated
    /// The file has another model.
    case isChanged
    /// Another file, of another model, has taken this one's place.
    case isReplaced
  }

  package let phase: Phase
  /// The model that the file has, or is being brought to.
  package let fingerprint: ModelFingerprint
  /// Whether this process reads everything that it knows rightly.
  package let isReadable: Bool

  /// Whether later commits can be followed.
  package var endsNews: Bool { phase == .isReplaced || !isReadable }
}
