import ArborLog
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `restore`: restores a log's store at a point in time.
struct RestoreVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restores a store from a log, as of a point in time.",
    discussion: """
      Without a point in time, the newest state in the log is restored. The file is either \
      complete or not created at all, and nothing is overwritten. Exit code 1: the log doesn't \
      reach the point in time, or a file already exists at the path.

      Example: lmdb-inspect restore backups/staff Staff.arbor --at 2026-11-23T12:30:00Z
      """)

  @Argument(help: "The log's folder.", completion: .file())
  var folder: String

  @Argument(help: "The file to create.", completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp(
      "The state after the last commit at or before a date such as 2026-11-23T12:30:00Z.",
      valueName: "date"))
  var at: String?

  @Option(help: ArgumentHelp("The state after the commit with this number.", valueName: "number"))
  var sequence: UInt64?

  @Flag(help: "Print one JSON document.")
  var json = false

  @OptionGroup var sizes: SizeArguments

  func validate() throws { _ = try point }

  func run() throws {
    try reportAnswer(on: folder, json: json) { printer in
      guard !FileManager.default.fileExists(atPath: path) else {
        throw InspectError.occupied(path)
      }
      do {
        let sequence = try Interruption.removingUnfinishedFiles {
          try ProgressLine.showing("restoring") { _ in
            try PersistentStore.restore(
              from: FolderLog(path: folder), to: URL(filePath: path), at: try point)
          }
        }
        var facts = Facts()
        facts.add("path", path)
        facts.add("sequence", Int(clamping: sequence))
        facts.add("bytes", label: "size", bytes: try FileSize.of(path), sizes)
        printer.print(json: facts.json, text: facts.text)
      } catch let error as ArborError where error.code == .objectNotFound {
        throw InspectError.notFound("\(error)")
      }
    }
  }

  private var point: RestorePoint {
    get throws {
      guard let at else { return sequence.map { .sequence($0) } ?? .newest }
      guard sequence == nil else {
        throw ValidationError("Use either --at or --sequence.")
      }
      if let date = ISO8601Date.parse(at) { return .date(date) }
      throw ValidationError("“\(at)” is not a valid date. Write it as 2026-11-23T12:30:00Z.")
    }
  }
}
