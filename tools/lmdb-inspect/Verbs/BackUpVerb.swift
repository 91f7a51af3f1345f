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
    abstract: "Adds a store's new commits to its log in a folder. Writes to the file.",
    discussion: """
      The first backup creates a snapshot, and so does any later one that cannot continue the \
      previous one. All others add the commits since the previous backup, which the store keeps \
      for the log. Other processes can read and write the store meanwhile.

      Example: lmdb-inspect backup Staff.arbor backups/staff
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Argument(help: "The log's folder, one for each store. It is created if it doesn't exist.")
  var folder: String

  @Flag(help: "Always create a snapshot, so that later restores are faster.")
  var snapshot = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let store = try PersistentStore(at: .path(path))
      defer { store.close() }
      let added = try ProgressLine.showing("backing up") { _ in
        try store.backUp(to: FolderLog(path: folder), snapshot: snapshot)
      }
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
