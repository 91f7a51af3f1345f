import ArborObjects
import ArgumentParser
import Foundation

/// The parts that verbs share: a file, an output format and the conversion of errors.
protocol Verb: ParsableCommand {
  var target: FileArguments { get }
  /// Reads the file and prints the result.
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

  @Flag(help: "Print long output without the pager set in PAGER.")
  var noPager = false
}

extension Verb {
  func run() throws { try inspect() }

  /// Opens the file and prints the result.
  func inspect() throws { try inspect(Output(form: target.json ? .json : .text)) }

  /// Opens the file and prints the result in a format.
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

/// Prints the result for a file or folder to standard output.
func reportAnswer(
  on path: String, json: Bool, _ answer: (inout Printer) throws -> Void
) throws {
  try reportAnswer(on: path, to: Output(form: json ? .json : .text), answer)
}

/// Prints the result for a file or folder. Errors are given an exit code and include the path.
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
      // An exit code without an error, such as that of `diff`, follows complete output.
      if error is ExitCode {
        try printer.finish()
        throw error
      }
      printer.cutList()
      throw error is ValidationError ? error : InspectError(error, on: path)
    }
  }
}
