import ArborModelFiles
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `salvage`: recovers the contents of a damaged store into a new one.
struct SalvageVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage", abstract: "Recovers the readable objects of a damaged store.",
    discussion: """
      Reads every page of the file, even if no other page refers to it, and writes a new store \
      with every object whose record is intact, along with its intact links and large binaries. \
      The damaged file is not changed, and no process may have it open. Doubtful data is included \
      in the new store and listed. Lost data is listed as well.

      Example: lmdb-inspect salvage Damaged.arbor Staff.arbor
      """)

  @Argument(help: "The damaged store's file.", completion: .file())
  var path: String

  @Argument(help: "The file to create.", completion: .file())
  var target: String

  @Flag(help: "Print one JSON document.")
  var json = false

  @Option(
    help: """
      The model that the store was written with, if the file no longer contains it: a \
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
        try ProgressLine.showing("salvaging") { _ in
          try PersistentStore.salvage(URL(filePath: path), to: URL(filePath: target), model: given)
        }
      }
      printer.print(json: report.json, text: report.description)
    }
  }
}
