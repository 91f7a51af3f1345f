import ArborJSON
import ArborLog
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `follow`: keeps a copy of a log's store up to date.
struct FollowVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Keeps a copy of a store up to date with its log.",
    discussion: """
      Creates the file from the log if it doesn't exist, then keeps it up to date. Prints a line \
      after each update and for each problem; with --json, each line is a document. If the log \
      continues with another model, the file is recreated. Other processes can read the file \
      meanwhile. Exit code 2: the log cannot be followed.

      Example: lmdb-inspect follow backups/staff Copy.arbor
      """)

  @Argument(help: "The log's folder.", completion: .file())
  var folder: String

  @Argument(help: "The copy's file. It is created if it doesn't exist.")
  var path: String

  @Option(help: ArgumentHelp("The interval at which to read the log.", valueName: "seconds"))
  var every = 1.0

  @Flag(help: "Read the log once and exit.")
  var once = false

  @Flag(help: "Print JSON, one document per line.")
  var json = false

  func validate() throws {
    guard every > 0, every < 1e6 else {
      throw ValidationError("--every must be greater than 0 seconds.")
    }
  }

  func run() throws {
    var told: Told?
    repeat {
      try reportAnswer(on: folder, json: json) { _ in
        try follow { sequence, problem in
          let now = Told(sequence: sequence, problem: problem)
          if now != told { StandardStream.write(Array("\(line(now))\n".utf8)) }
          told = now
        }
      }
      // Opening the store again applies a change of the model.
      if !once { Thread.sleep(forTimeInterval: every) }
    } while !once
  }

  /// The contents of the last line printed.
  private struct Told: Equatable {
    let sequence: UInt64
    let problem: String?
  }

  private func line(_ told: Told) -> String {
    var facts = Facts()
    facts.add("sequence", Int(clamping: told.sequence))
    if let problem = told.problem { facts.add("problem", problem) }
    return json
      ? facts.json.text(.compact)
      : "sequence \(told.sequence)" + (told.problem.map { ": \($0)" } ?? "")
  }

  /// Follows until the store has to be reopened.
  private func follow(_ tell: (UInt64, String?) -> Void) throws {
    let store = try PersistentStore(
      following: FolderLog(path: folder), at: .path(path), every: .seconds(1_000_000))
    defer { store.close() }
    while true {
      do {
        try store.catchUp()
        tell(store.sequence, nil)
      } catch {
        switch error.code {
        case _ where once: throw error
        case .modelChanged: return tell(store.sequence, ToolWording.text(error.message))
        // An unmounted folder may be mounted again.
        case .inputOutput, .fileUnreadable: tell(store.sequence, ToolWording.text(error.message))
        default: throw error
        }
      }
      if once { return }
      Thread.sleep(forTimeInterval: every)
    }
  }
}
