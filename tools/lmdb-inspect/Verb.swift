import ArborObjects
import ArgumentParser
import Foundation

/// The parts that verbs share: a file, an output format and the conversion of errors.
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

  @Flag(help: "Print a long answer without the program of the variable PAGER.")
  var noPager = false
}

extension Verb {
  func run() throws { try inspect() }

  /// Opens the file and prints the answer.
  func inspect() throws { try inspect(Output(form: target.json ? .json : .text)) }

  /// Opens the file and prints the answer in a format.
  func inspect(_ output: Output) throws {
    var output = output
    output.usesPager = !target.noPager
    try reportAnswer(on: target.path, to: output) { printer in
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

/// A verb that prints rows.
protocol RowVerb: Verb {
  var rows: RowArguments { get }
}

extension RowVerb {
  func run() throws { try inspect(rows.destination(json: target.json)) }
}

/// Answers about a file or folder on the standard output.
func reportAnswer(
  on path: String, json: Bool, _ answer: (inout Printer) throws -> Void
) throws {
  try reportAnswer(on: path, to: Output(form: json ? .json : .text), answer)
}

/// Answers about a file or folder. Errors get an exit code and the path.
func reportAnswer(
  on path: String, to output: Output, _ answer: (inout Printer) throws -> Void
) throws {
  // An interruption removes the output file.
  if let path = output.path {
    return try Interruption.removingUnfinishedFiles {
      try ProgressLine.showing("writing \(path)") { _ in try write() }
    }
  }
  try write()

  func write() throws {
    var printer = try Printer(output, source: path)
    do {
      try answer(&printer)
      try printer.finish()
    } catch {
      // A code without an error, as of differences, belongs to a complete answer.
      if error is ExitCode {
        try printer.finish()
        throw error
      }
      printer.cutList()
      throw error is ValidationError ? error : InspectError(error, on: path)
    }
  }
}
