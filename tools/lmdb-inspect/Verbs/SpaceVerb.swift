import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser
import Foundation
import LMDB

/// `space`: prints the space usage of a file.
struct SpaceVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "space",
    abstract: "Shows how a file's space is used and what “compact” would free.",
    discussion: """
      Later commits use free pages before the file grows; pinned pages are only reused after their \
      readers end. If a database has several values for each key and more than 4096 leaf pages, \
      its pages are estimated from 4096 of them and marked with “about”. The total for all \
      databases is exact. The fill level is that of the leaf pages, or of a sample of them.
      """)

  @OptionGroup var target: FileArguments

  @Option(
    help: ArgumentHelp("Write a map of the space to a new SVG file.", valueName: "file"),
    completion: .file())
  var svg: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    if let problem = file.problem { throw problem }
    if let svg, FileManager.default.fileExists(atPath: svg) { throw InspectError.occupied(svg) }
    let space = try FileSpace(file)
    if let svg {
      let name = URL(filePath: file.path).lastPathComponent
      let map = SpaceMap(title: "\(name): \(space.bytes) bytes", parts: space.parts)
      try Data(map.svg.utf8).write(to: URL(filePath: svg), options: .withoutOverwriting)
    }
    printer.print(json: space.json, text: space.text)
  }
}
