import ArgumentParser
import Foundation

/// The demo program: a catalog served by several processes, customers who order from it, and a
/// final comparison of the counts.
@main
struct Catalogue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "A catalog that several processes serve and modify through one log.",
    subcommands: [Serve.self, Order.self, Compare.self])
}

/// Writes a line immediately, even to a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
