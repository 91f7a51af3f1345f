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
    abstract: "Says what the bytes of a file are for, and what “compact” would give back.",
    discussion: """
      Free pages are used by later commits before the file grows; pinned ones not before their \
      readers end. The pages of a database whose keys have several values each and which has more \
      than 4096 leaf pages are estimated from so many of them and marked with “about”; all \
      databases together have exactly the pages of the file. How full pages are is that of the \
      leaf pages, or of some of them.
      """)

  @OptionGroup var target: FileArguments

  @Option(
    help: ArgumentHelp("Write a picture into a new file.", valueName: "file"), completion: .file())
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
