import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `scrub`: reads a store's entire file and looks for damage.
struct ScrubVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub", abstract: "Reads an entire store and looks for damaged and stale pages.",
    discussion: """
      Reads every page, verifies the checksum of every record and large binary, and compares the \
      digest of every database with the one that commits maintain. Stops at the first damage and \
      reports it as a problem; “check” lists problems of records, indexes and links. Other \
      processes can use the store meanwhile. Writes the date of the scrub to the file, and \
      recomputes digests that a program without support for them has not maintained.

      Example: lmdb-inspect scrub Staff.arbor
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      var options = StoreOptions()
      options.scrubInterval = nil
      options.compactsWhenClosed = false
      let store = try PersistentStore(at: .path(path), options: options)
      defer { store.close() }
      let problem = try Self.problem(of: store)
      let date = try store.lastScrub().map { ISO8601Date.milliseconds($0) }
      var facts = Facts()
      facts.add(
        "lastScrub", label: "last scrub", json: date.map(JSONValue.string) ?? .null,
        text: date ?? "never")
      facts.add(
        "problems", json: .array(problem.map { [.string($0)] } ?? []),
        text: problem ?? "no problems")
      printer.print(json: facts.json, text: facts.text)
      if problem != nil { throw ExitCode(InspectError.Code.notFound.rawValue) }
    }
  }

  /// Scrubs a store. Returns a description of the damage, or `nil` if none is found.
  private static func problem(of store: PersistentStore) throws -> String? {
    do {
      try ProgressLine.showing("scrubbing") { line in
        try store.scrub { line.report("\(Int($0 * 100)) %") }
      }
      return nil
    } catch let error as ArborError where error.code == .corrupted {
      return ToolWording.text("\(error)")
    }
  }
}
