import ArgumentParser
import Foundation

/// `manual`: prints the manual page.
struct ManualVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Prints the manual page of this program.",
    discussion: """
      Pipe it to “man -l -”, or save it as man1/lmdb-inspect.1 in a folder of the MANPATH. It \
      contains the same text as the help.

      Example: lmdb-inspect manual | man -l -
      """)

  func run() throws {
    let page = try ManualPage(dump: Inspect._dumpHelp())
    StandardStream.write(Array(page.text().utf8))
  }
}
