import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser
import Foundation
import LMDB
import Logging

/// `lmdb-inspect`: inspects LMDB files, in more detail if the file is a store.
///
/// Each verb has a file in `Verbs`. A verb reads through `InspectedFile`, which opens the file
/// read-only, and prints through `Printer`, as text or as a JSON document.
@main struct Inspect: AsyncParsableCommand {
  /// The description of the exit codes, for the help and the manual page.
  static let exitCodes = """
    Exit codes: 0, the result was printed, and no problems were found; 1, a requested item does \
    not exist, a predicate is not valid, a check or scrub found problems, files differ, a \
    migration is blocked, or the file to create already exists; 2, a file cannot be used: it is \
    missing, unreadable, damaged, in use, or not a store; 64, the command is not valid; 74, the \
    output could not be written.
    """

  static let configuration = CommandConfiguration(
    commandName: "lmdb-inspect",
    abstract: "Inspects LMDB files, with more detail for ArborData stores.",
    discussion: """
      Pass a verb and the file: “lmdb-inspect info Staff.arbor”. Verbs print text, or one JSON \
      document with --json. “lmdb-inspect help verb” describes a verb.

      Only “load”, “compact”, “migrate”, “revert”, “scrub”, which records its date, “backup”, \
      which records the newest commit in the log, and “serve --write” write to the file. A store \
      that another process has open can be read safely, because the tool takes part in LMDB's \
      locking like any other reader.

      “lmdb-inspect --generate-completion-script bash” prints a script that lets the shell \
      complete verbs, options and files. It also supports zsh and fish.

      Errors are printed on standard error as one line that begins with “lmdb-inspect: ”, or with \
      --json as one document, {"error": {"exitCode": 1, "message": "…"}}. The output before an \
      error is a complete document, too.

      \(exitCodes)
      """,
    version: "lmdb-inspect, store format \(StoreFormat.version), \(Environment.libraryVersion)",
    subcommands: [
      InfoVerb.self, TablesVerb.self, DumpVerb.self, GetVerb.self, ShowVerb.self, SchemaVerb.self,
      CountVerb.self, QueryVerb.self, QueriesVerb.self, ExplainVerb.self, IndexVerb.self,
      DiffVerb.self,
      CheckVerb.self, ScrubVerb.self, LoadVerb.self, SpaceVerb.self, CopyVerb.self,
      CompactVerb.self,
      ReadersVerb.self, PlanVerb.self, MigrateVerb.self, RevertVerb.self, BackUpVerb.self,
      RestoreVerb.self, FollowVerb.self, LogVerb.self, ServeVerb.self, BrowseVerb.self,
      SalvageVerb.self, ManualVerb.self,
    ])

  static func main() async {
    StandardStream.reserve()
    // The output and the errors of the verbs cover the library's log messages.
    LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
    do {
      try refuseUnknownVerb(CommandLine.arguments.dropFirst())
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      Pager.end()
    } catch let error as InspectError {
      error.end()
    } catch {
      end(error)
    }
  }

  /// Ends the process as requested by the argument parser: with a message for the user, or with the
  /// exit code of a verb that has printed its result.
  private static func end(_ error: any Error) -> Never {
    Pager.end()
    let code = exitCode(for: error).rawValue
    let text = fullMessage(for: error)
    if code == 0 {
      if !text.isEmpty { StandardStream.write(Array("\(text)\n".utf8)) }
    } else if !(error is ExitCode) {
      StandardStream.report(
        InspectError.isJSON ? InspectError.json(message(for: error), code: code) : text)
    }
    Foundation.exit(code)
  }

  /// Throws for an unknown verb, with the nearest one as a suggestion: the argument parser suggests
  /// only options, and shows its own help for an unknown topic.
  private static func refuseUnknownVerb(_ arguments: ArraySlice<String>) throws {
    let verbs = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    var words = arguments.prefix { !$0.hasPrefix("-") }
    if words.first == "help" { words = words.dropFirst() }
    guard let verb = words.first, !verbs.contains(verb) else { return }
    let nearest = NearestName.of(verb, in: verbs).map { " Did you mean “\($0)”?" } ?? ""
    throw ValidationError("Unknown verb “\(TerminalText.escaped(verb))”.\(nearest)")
  }
}

/// The error that a verb ends with.
struct InspectError: Error, CustomStringConvertible {
  /// The exit code of the process.
  enum Code: Int32 {
    /// The requested item doesn't exist, or the check found problems.
    case notFound = 1
    /// A file could not be used.
    case unreadable = 2
    /// The output could not be written: EX_IOERR in sysexits.h.
    case unwritable = 74
  }

  let code: Code
  /// The message: the problem, then its remedy.
  let description: String

  static func notFound(_ description: String) -> InspectError {
    InspectError(code: .notFound, description: description)
  }

  static func unknownEntity(_ name: String, among names: [String]) -> InspectError {
    .notFound("The model has no entity \(name)." + NearestName.hint(name, in: names))
  }

  /// Creates the error for a file to be created that already exists.
  ///
  /// - Parameter canReplace: Whether the verb has an option that replaces it.
  static func occupied(_ path: String, canReplace: Bool = false) -> InspectError {
    let remedy = canReplace ? "Choose another path, or add --force." : "Choose another path."
    return .notFound("\(path) already exists and will not be overwritten. \(remedy)")
  }

  static func unreadable(_ description: String) -> InspectError {
    InspectError(code: .unreadable, description: description)
  }

  static func unwritable(_ description: String) -> InspectError {
    InspectError(code: .unwritable, description: description)
  }
}

extension InspectError {
  /// Creates the error that represents any error of a verb.
  init(_ error: any Error, on path: String) {
    switch ToolWording.publicError(error) {
    case let error as InspectError: self = error
    case let error as UserFileError:
      self = error.isOfWriting ? .unwritable(error.message) : .unreadable(error.message)
    case let error as ArborError where Self.codesOfQuestions.contains(error.code):
      self = .notFound("\(error)")
    case let error as ArborError where error.code == .diskFull:
      self = .unwritable("\(path): \(error)")
    default:
      let text = (error as? CocoaError)?.systemMessage ?? "\(error)"
      self = .unreadable("\(path): \(text)")
    }
  }

  /// The codes of errors that are caused by the request, not by the file.
  private static let codesOfQuestions: Set<ArborError.Code> = [
    .invalidPredicate, .unknownName, .typeMismatch, .objectNotFound, .modelMismatch, .notAllowed,
  ]

  /// Whether output and errors are printed as JSON.
  static var isJSON: Bool { CommandLine.arguments.contains("--json") }

  static func json(_ message: String, code: Int32) -> String {
    let error: JSONValue = ["exitCode": JSONValue(Int(code)), "message": .string(message)]
    return JSONValue.object(["error": error]).text(.compact)
  }

  /// Reports the error and ends the process.
  func end() -> Never {
    Pager.end()
    let text = ToolWording.text(description)
    let isColored = TerminalView.isColored(STDERR_FILENO)
    let name = isColored ? "\u{1B}[31mlmdb-inspect:\u{1B}[0m" : "lmdb-inspect:"
    StandardStream.report(
      Self.isJSON ? Self.json(text, code: code.rawValue) : "\(name) \(text)")
    exit(code.rawValue)
  }
}

extension CocoaError {
  /// The path and the system's reason, instead of the codes in Foundation's description.
  var systemMessage: String {
    let reason = (underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
    let path = filePath ?? url?.path
    return (path.map { "\($0): " } ?? "") + (reason ?? localizedDescription)
  }
}
