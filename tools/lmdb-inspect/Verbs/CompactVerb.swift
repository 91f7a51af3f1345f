import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `compact`: releases a store's free pages.
struct CompactVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Releases a store's free pages. Writes to the file.",
    discussion: """
      Replaces the store with a compacted copy, which temporarily needs additional space. No other \
      process may have the store open. If the command is interrupted, either the former or the new \
      file remains.

      Example: lmdb-inspect compact Staff.arbor
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Flag(help: "Print one JSON document.")
  var json = false

  @OptionGroup var sizes: SizeArguments

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let store = try PersistentStore(at: .path(path))
      defer { store.close() }
      let before = try store.spaceUsage().file
      try Interruption.removingUnfinishedFiles {
        try ProgressLine.showing("compacting") { _ in try store.compact() }
      }
      var facts = Facts()
      facts.add("before", bytes: before, sizes)
      facts.add("after", bytes: try store.spaceUsage().file, sizes)
      printer.print(json: facts.json, text: facts.text)
    }
  }
}
