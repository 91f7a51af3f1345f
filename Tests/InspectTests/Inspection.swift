import Foundation
import TestSupport

/// Runs of `lmdb-inspect` on a file, which verify that the file is unchanged.
struct Inspection {
  static let program = BuiltProgram("lmdb-inspect")

  let path: String
  /// The file whose bytes must not change.
  let data: URL

  init(_ url: URL, data: URL? = nil) {
    path = url.path
    self.data = data ?? url
  }

  enum Defect: Error { case changed(String) }

  /// Runs a command. Throws an error if the run changed the file's bytes or its modification date.
  func run(_ verb: String, _ arguments: String...) throws -> BuiltProgram.Outcome {
    let before = try state()
    let outcome = try Self.program.run([verb, path] + arguments)
    guard try state() == before else { throw Defect.changed(verb) }
    return outcome
  }

  /// Runs a command with `--json` and returns its parsed output.
  func json(_ verb: String, _ arguments: String...) throws -> Any {
    let before = try state()
    let outcome = try Self.program.run([verb, path] + arguments + ["--json"])
    guard try state() == before else { throw Defect.changed(verb) }
    return try JSONSerialization.jsonObject(
      with: Data(outcome.output.utf8), options: .fragmentsAllowed)
  }

  private func state() throws -> [String: AnyHashable] {
    guard FileManager.default.fileExists(atPath: data.path) else { return [:] }
    let attributes = try FileManager.default.attributesOfItem(atPath: data.path)
    let isFile = attributes[.type] as? FileAttributeType == .typeRegular
    return [
      "bytes": isFile ? try Data(contentsOf: data) : nil,
      "changed": attributes[.modificationDate] as? Date,
      "number": attributes[.systemFileNumber] as? Int,
    ]
  }
}
