import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `scrub`: reads a store's entire file and looks for damage.
struct ScrubVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub", abstract: "Reads a store as a whole and looks for damaged and old pages.",
    discussion: """
      Reads every page, the checksum of every record and large binary, and compares the digest of \
      every database with that which the commits have kept. It ends with the first damage, which \
      it names as a problem; “check” lists what is wrong with records, indexes and links. Others \
      may use the store meanwhile. Writes to the file when it was scrubbed, and counts digests \
      that a program without them has left behind. How far it is goes to the standard error.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Flag(help: "Answer with one JSON document.")
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

  /// Scrubs a store. Returns the damage found, or `nil`.
  private static func problem(of store: PersistentStore) throws -> String? {
    do throws(ArborError) {
      try store.scrub { fraction in
        StandardStream.report("scrubbed \(Int(fraction * 100)) %")
      }
      return nil
    } catch {
      guard error.code == .corrupted else { throw error }
      return ToolWording.text("\(error)")
    }
  }
}
