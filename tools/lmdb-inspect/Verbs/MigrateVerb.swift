import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `migrate`: migrates a store to another version of its model, without custom code.
struct MigrateVerb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a store to another model. Writes to the file.",
    discussion: """
      Performs the steps that “plan” prints, or resumes an interrupted migration. Steps that \
      require code can only be run by the program that contains the code.

      Example: lmdb-inspect migrate Staff.arbor Staff.xcdatamodeld --drop Employee.age
      """)

  @OptionGroup var migration: MigrationArguments

  func run() async throws {
    do {
      let (target, options) = (try migration.target, try migration.options)
      try await ProgressLine.showing("migrating") { line in
        for try await progress in PersistentStore.migrate(migration.store, to: target, options) {
          line.report("\(progress)")
        }
      }
      let store = try PersistentStore(at: .path(migration.path))
      defer { store.close() }
      try store.check()
      try migration.report { printer in
        let fingerprint = "\(store.model.fingerprint)"
        printer.print(
          json: .object(JSONObject(distinct: [("model", .string(fingerprint))])),
          text: "The store has model \(fingerprint). The check found no problems.")
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
    abstract: "Reverts the last migration of a store. Writes to the file.",
    discussion: """
      Restores the store's former model with everything that was dropped, unless the migration has \
      been confirmed. Data committed since that has no place in the former model is dropped only \
      if an option names it; commits since a migration in a copy are dropped only with \
      --drop-everything. An interrupted migration is cancelled.

      Example: lmdb-inspect revert Staff.arbor
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @OptionGroup
  var losses: PermittedLosses

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      try PersistentStore.revertMigration(URL(filePath: path), dropping: losses.dropping)
      let store = try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
      defer { store.close() }
      let fingerprint = "\(store.model.fingerprint)"
      printer.print(
        json: .object(JSONObject(distinct: [("model", .string(fingerprint))])),
        text: "The store was reverted to model \(fingerprint).")
    }
  }
}
