import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `migrate`: migrates a store to another version of its model, without code.
struct MigrateVerb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Brings a store to another model: writes to the file.",
    discussion: """
      Does what “plan” prints, and goes on with a migration that was interrupted. What takes \
      code is left to the program that has the code.
      """)

  @OptionGroup var migration: MigrationArguments

  func run() async throws {
    do {
      let (target, options) = (try migration.target, try migration.options)
      for try await progress in PersistentStore.migrate(migration.store, to: target, options) {
        StandardStream.report("\(progress)")
      }
      let store = try PersistentStore(at: .path(migration.path))
      defer { store.close() }
      try store.check()
      try migration.report { printer in
        let fingerprint = "\(store.model.fingerprint)"
        printer.print(
          json: .object(JSONObject(distinct: [("model", .string(fingerprint))])),
          text: "The store has model \(fingerprint) and no problems.")
      }
    } catch {
      try migration.report { _ in throw error }
    }
  }
}

/// `revert`: reverts the last migration of a store.
struct RevertVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Takes the last migration of a store back: writes to the file.",
    discussion: """
      Brings back the model that the store had before, with everything that was dropped, unless \
      the migration is confirmed. What was committed since and has no place in that model is \
      lost only where an option names it; what was committed since a migration in a copy, only \
      with --drop-everything. A migration that was interrupted is given up.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @OptionGroup
  var losses: PermittedLosses

  @Flag(help: "Answer with one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      try PersistentStore.revertMigration(URL(filePath: path), dropping: losses.dropping)
      let store = try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
      defer { store.close() }
      let fingerprint = "\(store.model.fingerprint)"
      printer.print(
        json: .object(JSONObject(distinct: [("model", .string(fingerprint))])),
        text: "The store has model \(fingerprint) again.")
    }
  }
}
