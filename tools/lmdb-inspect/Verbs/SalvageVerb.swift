import ArborModelFiles
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `salvage`: recovers the contents of a damaged store into a new one.
struct SalvageVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage", abstract: "Takes out of a damaged store what it still holds.",
    discussion: """
      Reads every page of the file by itself, whatever leads to it, and writes a new store: every \
      object whose record is sound, with its links and large binaries as far as they are. The \
      damaged file is not changed, and nobody may have it open. What is doubtful is in the new \
      store too, and listed; what is lost is listed.
      """)

  @Argument(help: "The damaged store's file.", completion: .file())
  var path: String

  @Argument(help: "The file to be made.", completion: .file())
  var target: String

  @Flag(help: "Answer with one JSON document.")
  var json = false

  @Option(
    help: """
      The model that the store was written with, for a file that no longer holds it: a \
      .xcdatamodeld, .xcdatamodel or .model.json.
      """, completion: .file())
  var model: String?

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      guard !FileManager.default.fileExists(atPath: target) else {
        throw InspectError.occupied(target)
      }
      let given = try model.map { try ManagedObjectModel(contentsOf: URL(filePath: $0)) }
      let report = try Interruption.removingUnfinishedFiles {
        try PersistentStore.salvage(URL(filePath: path), to: URL(filePath: target), model: given)
      }
      printer.print(json: report.json, text: report.description)
    }
  }
}
