import Foundation
import TestSupport
import Testing

/// A file that the command serves.
enum ServedFile {
  /// Starts `serve`, and passes the printed address to `body`.
  static func use(_ arguments: [String], _ body: (URL) throws -> Void) throws {
    let program = try StartedProgram(
      BuiltProgram("lmdb-inspect").executable, ["serve"] + arguments, output: .pipe)
    defer {
      program.kill()
      _ = program.wait()
    }
    var line: [UInt8] = []
    while !line.contains(UInt8(ascii: "\n")) {
      let more = program.read()
      try #require(!more.isEmpty)
      line += more
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    try body(try #require(URL(string: text)))
  }
}
