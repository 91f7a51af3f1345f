import ArgumentParser
import Foundation

/// What all verbs share: a file, the form of the answer, and how an error leaves the process.
protocol Verb: ParsableCommand {
  var target: FileArguments { get }
  /// Reads the file and prints the answer.
  func answer(_ file: InspectedFile, _ printer: inout Printer) throws
}

/// The arguments that every verb takes.
struct FileArguments: ParsableArguments {
  @Argument(
    help: "The store or LMDB file; or a folder that holds data.mdb.", completion: .file())
  var path: String

  @Flag(help: "Answer with one JSON document.")
  var json = false

  @Flag(
    help: """
      Read without the lock file. Only for a file that nobody writes, where the lock file may not \
      be written.
      """)
  var immutable = false
}

extension Verb {
  func run() throws { try inspect() }

  /// Opens the file and answers.
  func inspect() throws {
    try report { printer in
      try answer(InspectedFile(path: target.path, isImmutable: target.immutable), &printer)
    }
  }

  /// Answers, and says why where that fails.
  func report(_ answer: (inout Printer) throws -> Void) throws {
    try reportAnswer(on: target.path, json: target.json, answer)
  }
}

/// Answers about a file or folder, and says why where that fails.
func reportAnswer(
  on path: String, json: Bool, _ answer: (inout Printer) throws -> Void
) throws {
  do {
    var printer = Printer(isJSON: json)
    defer { printer.flush() }
    try answer(&printer)
  } catch let error as ExitCode {
    throw error
  } catch {
    let reason = InspectError(error, on: path)
    FileHandle.standardError.write(Data("lmdb-inspect: \(reason)\n".utf8))
    throw ExitCode(reason.code.rawValue)
  }
}
