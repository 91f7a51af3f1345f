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

      Example: lmdb-inspect space Staff.arbor --svg space.svg
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var sizes: SizeArguments

  @Option(
    help: ArgumentHelp("Write a map of the space to a new SVG file.", valueName: "file"),
    completion: .file())
  var svg: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    if let problem = file.problem { throw problem }
    let space = try Interruption.removingUnfinishedFiles {
      let drawing = try svg.map { try OutputFile($0, source: file.path) }
      let space = try ProgressLine.showing("measuring") { _ in try FileSpace(file, sizes) }
      if let drawing { try draw(space, of: file, in: drawing) }
      return space
    }
    let view = printer.view
    printer.print(json: space.json, text: space.text(view))
  }

  private func draw(_ space: FileSpace, of file: InspectedFile, in drawing: OutputFile) throws {
    let name = URL(filePath: file.path).lastPathComponent
    let map = SpaceMap(title: "\(name): \(space.bytes) bytes", parts: space.parts)
    try drawing.write(Array(map.svg.utf8))
    try drawing.finish()
  }
}
