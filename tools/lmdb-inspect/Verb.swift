import ArborObjects
import ArgumentParser
import Foundation

/// The common part of verbs: a file, the form of the answer, and the conversion of errors.
protocol Verb: ParsableCommand {
  var target: FileArguments { get }
  /// Reads the file and prints the answer.
  func answer(_ file: InspectedFile, _ printer: inout Printer) throws
}

/// The arguments of every verb.
struct FileArguments: ParsableArguments {
  @Argument(
    help: "The store or LMDB file, or a folder that contains data.mdb.", completion: .file())
  var path: String

  @Flag(help: "Print one JSON document.")
  var json = false

  @Flag(
    help: """
      Read without the lock file. Use this only if the lock file is not writable and no process \
      writes to the file.
      """)
  var immutable = false
}

extension Verb {
  func run() throws { try inspect() }

  /// Opens the file and answers.
  func inspect() throws {
    try report { printer in
      let file = try InspectedFile(path: target.path, isImmutable: target.immutable)
      do { try answer(file, &printer) } catch {
        throw ToolWording.publicError(error, in: file.store)
      }
    }
  }

  /// Runs `answer`, converting its errors.
  func report(_ answer: (inout Printer) throws -> Void) throws {
    try reportAnswer(on: target.path, json: target.json, answer)
  }
}

/// Answers about a file or folder. Errors get an exit code and the path.
func reportAnswer(
  on path: String, json: Bool, _ answer: (inout Printer) throws -> Void
) throws {
  var printer = Printer(isJSON: json)
  do {
    try answer(&printer)
    printer.flush()
  } catch {
    printer.cutList()
    throw error is ExitCode ? error : InspectError(error, on: path)
  }
}
