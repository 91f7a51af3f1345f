import ArgumentParser
import Foundation

/// `manual`: prints the manual page.
struct ManualVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Prints the manual page of this program.",
    discussion: """
      For “man -l -”, or for a file lmdb-inspect.1 in a folder man1 of the MANPATH. It has the \
      texts of the help.
      """)

  func run() throws {
    let page = try ManualPage(dump: Inspect._dumpHelp())
    StandardStream.write(Array(page.text().utf8))
  }
}
