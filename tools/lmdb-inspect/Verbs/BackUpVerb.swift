import ArborJSON
import ArborLog
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `backup`: adds the new commits of a store to a log.
struct BackUpVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Adds what is new in a store to its log in a folder: writes to the file.",
    discussion: """
      Makes a snapshot the first time, and where commits cannot be added; then adds the commits \
      since the last time, which the store keeps for the log from its first backup on. Others may \
      read and write the store meanwhile.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Argument(help: "The log's folder, one for each store; it is made where none exists.")
  var folder: String

  @Flag(help: "Make a snapshot in any case, so that restoring takes less time from here on.")
  var snapshot = false

  @Flag(help: "Answer with one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let store = try PersistentStore(at: .path(path))
      defer { store.close() }
      let added = try store.backUp(to: FolderLog(path: folder), snapshot: snapshot)
      var facts = Facts()
      facts.add("snapshot", json: .bool(added.isSnapshot), text: added.isSnapshot ? "yes" : "no")
      facts.add("commits", added.commits)
      facts.add("sequence", Int(clamping: added.sequence))
      printer.print(json: facts.json, text: facts.text)
    }
  }
}

extension FolderLog {
  /// Creates the log for a folder on the command line.
  init(path: String) { self.init(URL(filePath: path, directoryHint: .isDirectory)) }
}
