import ArborJSON
import ArborLog
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `log`: lists the contents of a log.
struct LogVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Lists the snapshots of a log, and the last commit of each.",
    discussion: """
      With --verify, every byte is read and the checksums are verified. Exit code 1: a file has \
      changed since it was written, or the last file is truncated.

      Example: lmdb-inspect log backups/staff --verify
      """)

  @Argument(help: "The log's folder.")
  var folder: String

  @Flag(help: "Read and verify the entire log.")
  var verify = false

  @Flag(help: "Print one JSON document.")
  var json = false

  @OptionGroup var sizes: SizeArguments

  func run() throws {
    try reportAnswer(on: folder, json: json) { printer in
      let log = FolderLog(path: folder)
      let contents = try log.contents()
      var facts = Facts()
      facts.add("store", contents.storeID.uuidString)
      facts.add(
        "newest", json: contents.newest.map { JSONValue(Int(clamping: $0)) } ?? .null,
        text: contents.newest.map { "\($0)" } ?? "none")
      let problems =
        verify
        ? try ProgressLine.showing("verifying") { _ in try self.problems(of: log, contents) } : []
      if verify {
        facts.add(
          "problems", json: .array(problems.map(JSONValue.string)),
          text: problems.isEmpty ? "no problems" : problems.joined(separator: "\n"))
      }
      let text = facts.text + "\n\n" + table(contents.snapshots, printer.view)
      facts.add("snapshots", json: .array(contents.snapshots.map(Self.json)), text: "")
      printer.print(json: facts.json, text: text)
      if !problems.isEmpty { throw ExitCode(InspectError.Code.notFound.rawValue) }
    }
  }

  private func problems(of log: FolderLog, _ contents: FolderLog.Contents) throws -> [String] {
    let verified: FolderLog.Contents
    do throws(ArborError) { verified = try log.verify() } catch {
      guard error.code == .corrupted else { throw error }
      return [ToolWording.text("\(error)")]
    }
    return zip(contents.snapshots, verified.snapshots).compactMap { (named, found) in
      guard found.lastSequence < named.lastSequence else { return nil }
      return "Commits \(found.lastSequence + 1) to \(named.lastSequence) are missing at the end."
    }
  }

  /// Returns the date of a snapshot, rounded up, so that restoring at this date finds the snapshot.
  private static func firstDate(of snapshot: FolderLog.Snapshot) -> String {
    let seconds = snapshot.commitDate.timeIntervalSinceReferenceDate.rounded(.up)
    return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
  }

  private static func json(_ snapshot: FolderLog.Snapshot) -> JSONValue {
    [
      "sequence": JSONValue(Int(clamping: snapshot.sequence)),
      "date": .string(snapshot.date.formatted(.iso8601)),
      "commitDate": .string(firstDate(of: snapshot)),
      "bytes": JSONValue(Int(clamping: snapshot.bytes)),
      "lastSequence": JSONValue(Int(clamping: snapshot.lastSequence)),
      "commitBytes": JSONValue(Int(clamping: snapshot.commitBytes)),
    ]
  }

  private func table(_ snapshots: [FolderLog.Snapshot], _ view: TerminalView) -> String {
    guard !snapshots.isEmpty else { return "no snapshots" }
    var text = TextTable([
      "snapshot", "created", "restores from", sizes.title, "up to", "\(sizes.title) of commits",
    ])
    for snapshot in snapshots {
      text.add([
        "\(snapshot.sequence)", snapshot.date.formatted(.iso8601),
        Self.firstDate(of: snapshot), sizes.text(Int(clamping: snapshot.bytes)),
        "\(snapshot.lastSequence)", sizes.text(Int(clamping: snapshot.commitBytes)),
      ])
    }
    return text.text(view)
  }
}
