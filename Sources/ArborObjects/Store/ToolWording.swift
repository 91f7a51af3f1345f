internal import ArborModel
package import ArborStore

/// The rewording of the library's messages for `lmdb-inspect` and the browser, where the remedy is
/// a command or an option instead of an API call.
package enum ToolWording {
  /// Returns a message without names of the library's API.
  package static func text(_ message: String) -> String {
    guard phrases.contains(where: { message.contains($0.call) }) else { return message }
    return phrases.reduce(message) { $0.replacing($1.call, with: $1.words) }
  }

  /// Returns the message of an error from any layer.
  ///
  /// - Parameter engine: The store with which to name the objects that an error concerns, or `nil`.
  package static func text(_ error: any Error, in engine: StoreEngine? = nil) -> String {
    text("\(publicError(error, in: engine))")
  }

  /// Converts an error of the store layer to the public error. Returns other errors unchanged.
  package static func publicError(_ error: any Error, in engine: StoreEngine? = nil) -> any Error {
    guard let error = error as? StoreError else { return error }
    return engine.map { ArborError(error, in: $0) } ?? ArborError(opening: error)
  }

  /// The phrases to replace. Longer phrases precede phrases contained in them.
  private static let phrases: [(call: String, words: String)] = [
    ("PersistentStore.salvage(_:to:model:) or lmdb-inspect salvage", "lmdb-inspect salvage"),
    ("with PersistentStore.revertMigration(_:)", "with “lmdb-inspect revert”"),
    (
      "Open the store with options.indexBuilds set to .inBackground, change the values and reopen "
        + "the store",
      "Change the values in a program that opens the store with the model"
    ),
    (
      "Search again when PersistentStore.indexBuilds() no longer lists the index",
      "Search again when “lmdb-inspect index” lists the index as ready"
    ),
    ("in options.migration = .automatic(dropping:)", "with --drop"),
    ("in revertMigration(_:dropping:)", "with --drop"),
    (" with options.migration = .automatic", ""),
    ("use a MigrationStep to", "use a program with a migration step to"),
    (", or set options.migration to .automatic", ""),
    (
      "Open it with its own model, set options.migration to migrate it, or set options.onMismatch "
        + "to replace it.", "Migrate it with “lmdb-inspect migrate”."
    ),
    (
      ", open the store with its former model, or set options.onMismatch to replace it.",
      ", or keep the store's former model."
    ),
    (
      " Add the store's model to options.modelVersions, ",
      " Use a model that has all versions, "
    ),
  ]
}
