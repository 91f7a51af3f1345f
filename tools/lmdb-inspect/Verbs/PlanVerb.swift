import ArborModelFiles
import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `plan`: prints the plan of migrating a store to another version of its model.
struct PlanVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Prints the steps that a migration to another model takes.",
    discussion: """
      Prints the steps, the objects they read, the data to be dropped and the obstacles. Nothing \
      is written. Exit code 1: there are obstacles. Properties that were renamed more than once \
      are resolved by the other versions of a .xcdatamodeld.

      Example: lmdb-inspect plan Staff.arbor Staff.xcdatamodeld
      """)

  @OptionGroup var migration: MigrationArguments

  func run() throws {
    try migration.report { printer in
      let plan = try PersistentStore.migrationPlan(
        for: migration.store, to: migration.target, options: migration.options)
      printer.print(json: plan.json, text: ToolWording.text(plan.description))
      if !plan.obstacles.isEmpty { throw ExitCode(InspectError.Code.notFound.rawValue) }
    }
  }
}

/// The data that a migration may drop.
struct PermittedLosses: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Data that may be dropped, as Entity or Entity.property. Can be repeated.",
      valueName: "name"))
  var drop: [String] = []

  @Flag(help: "Allow all data that has no place in the model to be dropped.")
  var dropEverything = false

  var dropping: StoreOptions.Migration.Dropping {
    dropEverything ? .everythingRemoved : StoreOptions.Migration.Dropping(drop)
  }
}

/// The arguments of verbs that migrate a store.
struct MigrationArguments: ParsableArguments {
  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Argument(help: "The model: a .xcdatamodeld, .xcdatamodel or .model.json.")
  var model: String

  @OptionGroup
  var losses: PermittedLosses

  @Flag(help: "Print one JSON document.")
  var json = false

  var store: URL { URL(filePath: path) }

  var target: ManagedObjectModel {
    get throws { try ManagedObjectModel(contentsOf: URL(filePath: model)) }
  }

  var options: StoreOptions {
    get throws {
      var options = StoreOptions()
      options.migration = .automatic(dropping: losses.dropping)
      let document = try ModelDocument(contentsOf: URL(filePath: model))
      options.siblingVersions = document.versions.compactMap {
        try? document.model(ofVersion: $0.name)
      }
      return options
    }
  }

  /// Runs `answer`, converting its errors.
  func report(_ answer: (inout Printer) throws -> Void) throws {
    try reportAnswer(on: path, json: json, answer)
  }
}

extension MigrationPlan {
  /// The plan as a JSON document.
  var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
    func list(_ obstacles: [Obstacle]) -> JSONValue {
      .array(
        obstacles.map { obstacle in
          .object(
            JSONObject(distinct: [
              ("entity", text(obstacle.entity)), ("property", text(obstacle.property)),
              ("objects", .array(obstacle.objectIDs.map { .string("\($0)") })),
              ("message", .string(ToolWording.text(obstacle.message))),
            ]))
        })
    }
    return .object(
      JSONObject(distinct: [
        ("isInPlace", .bool(isInPlace)), ("bytes", JSONValue(bytes)),
        (
          "parts",
          .array(
            parts.map { part in
              .object(
                JSONObject(distinct: [
                  ("from", .string(part.from)), ("to", .string(part.to)),
                  (
                    "steps",
                    .array(
                      part.steps.map { step in
                        .object(
                          JSONObject(distinct: [
                            ("title", .string(step.title)), ("entity", text(step.entity)),
                            ("objects", step.objectCount.map { JSONValue($0) } ?? .null),
                            ("changes", .array(step.changes.map { .string($0.summary) })),
                          ]))
                      })
                  ),
                ]))
            })
        ),
        ("losses", .array(losses.map { .string($0.name) })),
        ("brokenRules", list(brokenRules)), ("obstacles", list(obstacles)),
      ]))
  }
}
