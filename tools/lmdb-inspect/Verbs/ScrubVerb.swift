import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `scrub`: reads a store's file as a whole and looks for damage.
struct ScrubVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub", abstract: "Reads a store as a whole and looks for damaged and old pages.",
    discussion: """
      Reads every page, the checksum of every record and large binary, and compares the digest of \
      every database with that which the commits have kept. It ends with the first damage; \
      “check” lists all of it. Others may use the store meanwhile. Writes to the file when it was \
      scrubbed, and counts digests that a program without them has left behind.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Flag(help: "Answer with one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      var options = StoreOptions()
      options.scrubInterval = nil
      let store = try PersistentStore(at: .path(path), options: options)
      defer { store.close() }
      try store.scrub()
      var facts = Facts()
      let date = try store.lastScrub.map { $0.formatted(ValueText.dateStyle) }
      facts.add("lastScrub", label: "last scrub", date ?? "never")
      facts.add("problems", json: .array([]), text: "no problems")
      printer.print(json: facts.json, text: facts.text)
    }
  }
}
