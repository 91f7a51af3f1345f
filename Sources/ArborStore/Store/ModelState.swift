package import ArborModel

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
