import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `compact`: releases a store's free pages.
struct CompactVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Gives a store's free pages back: writes to the file.",
    discussion: """
      Puts a compacted copy in the store's place, which takes as much room meanwhile. Nobody else \
      may have the store open. Stopped at any moment, it leaves the former file or the new one.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Flag(help: "Answer with one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let store = try PersistentStore(at: .path(path))
      defer { store.close() }
      let before = try store.spaceUsage().file
      try Interruption.removingUnfinishedFiles { try store.compact() }
      var facts = Facts()
      facts.add("before", before)
      facts.add("after", try store.spaceUsage().file)
      printer.print(json: facts.json, text: facts.text)
    }
  }
}
