import ArgumentParser
import Foundation

/// The program of the demo: a catalogue that is served by several processes, customers who order
/// from it, and the count at the end.
@main
struct Catalogue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "A catalogue that several processes serve and write through one log.",
    subcommands: [Serve.self, Order.self, Compare.self])
}

/// Writes a line at once, also where it goes to a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
