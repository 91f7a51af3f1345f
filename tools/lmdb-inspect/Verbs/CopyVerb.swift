import ArborModel
import ArborObjects
import ArgumentParser
import Foundation
import LMDB

/// `copy`: writes a snapshot of a file to a new one.
struct CopyVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copies the store as of its last commit to a new file.",
    discussion: """
      Other processes can read and write the file meanwhile. The copy is either complete or not \
      created at all, and nothing is overwritten.

      Example: lmdb-inspect copy Staff.arbor Copy.arbor --compact
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var sizes: SizeArguments

  @Argument(help: "The file to create.", completion: .file())
  var copy: String

  @Flag(help: "Leave out free pages. The file is smaller, but copying takes longer.")
  var compact = false

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    guard !FileManager.default.fileExists(atPath: copy) else {
      throw InspectError.occupied(copy)
    }
    if let problem = file.problem { throw problem }
    try Interruption.removingUnfinishedFiles {
      try ProgressLine.showing("copying") { _ in try write(file) }
    }
    var facts = Facts()
    facts.add("path", copy)
    facts.add("bytes", label: "size", bytes: try FileSize.of(copy), sizes)
    printer.print(json: facts.json, text: facts.text)
  }

  private func write(_ file: InspectedFile) throws {
    guard file.store != nil else {
      return try file.environment.copy(to: copy, compacting: compact)
    }
    let store = try file.openStore()
    defer { store.close() }
    try store.copy(to: URL(filePath: copy), compacting: compact)
  }
}

enum FileSize {
  static func of(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }
}
