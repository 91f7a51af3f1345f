import ArborModel
import ArborObjects
import ArgumentParser

/// `lmdb-inspect`: looks into LMDB files, and says more when the file is a store of ours.
///
/// One verb is one file in `Verbs`. A verb reads through `InspectedFile`, which opens for reading
/// only, and answers through `Printer`, as text or as one JSON document.
@main struct Inspect: AsyncParsableCommand {
  /// What the process ends with, in the help and the manual page.
  static let exitCodes = """
    Exit codes: 0, the answer was printed; 1, what was asked for is not there, a check or a scrub \
    found problems, or files differ; 2, the file could not be read; 64, the command was not \
    understood.
    """

  static let configuration = CommandConfiguration(
    commandName: "lmdb-inspect",
    abstract: "Looks into LMDB files, and says more when the file is a store of ArborData.",
    discussion: """
      A verb, then the file: “lmdb-inspect info Staff.arbor”. Verbs answer for a person, or with \
      --json as one document for a program; “lmdb-inspect help verb” says more.

      Nothing is ever written to the file but by “load”, “compact”, “migrate”, “revert”, “scrub”, \
      which keeps when it was, and “backup”, which records in it how far the log has its \
      commits, and by “serve --write”. \
      A store that another process has open can be read safely: the tool takes part in LMDB's \
      locking as every reader does.

      “lmdb-inspect --generate-completion-script bash”, or zsh or fish, prints what a shell needs \
      to complete verbs, options and files.

      \(exitCodes)
      """,
    subcommands: [
      InfoVerb.self, TablesVerb.self, DumpVerb.self, GetVerb.self, ShowVerb.self, SchemaVerb.self,
      CountVerb.self, QueryVerb.self, ExplainVerb.self, IndexVerb.self, DiffVerb.self,
      CheckVerb.self, ScrubVerb.self, LoadVerb.self, SpaceVerb.self, CopyVerb.self,
      CompactVerb.self,
      ReadersVerb.self, PlanVerb.self, MigrateVerb.self, RevertVerb.self, BackUpVerb.self,
      RestoreVerb.self, FollowVerb.self, LogVerb.self, ServeVerb.self, BrowseVerb.self,
      SalvageVerb.self, ManualVerb.self,
    ])

  static func main() async {
    refuseUnknownVerb(CommandLine.arguments.dropFirst())
    await main(nil)
  }

  /// Ends the process where the first argument is no verb, and offers the nearest one: the argument
  /// parser offers names of options only.
  private static func refuseUnknownVerb(_ arguments: ArraySlice<String>) {
    let verbs = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    guard let verb = arguments.first, !verb.hasPrefix("-"), !verbs.contains(verb) else { return }
    let nearest = NearestName.of(verb, in: verbs).map { " Did you mean “\($0)”?" } ?? ""
    exit(
      withError: ValidationError(
        "There is no verb “\(TerminalText.escaped(verb))”.\(nearest)"))
  }
}

/// Why a verb ends without its answer.
struct InspectError: Error, CustomStringConvertible {
  /// The exit code of the process.
  enum Code: Int32 {
    /// What was asked for is not there, or the check found problems.
    case notFound = 1
    /// The file could not be read.
    case unreadable = 2
  }

  let code: Code
  /// What happened, then what to do.
  let description: String

  static func notFound(_ description: String) -> InspectError {
    InspectError(code: .notFound, description: description)
  }

  /// A file that is to be made is there.
  static func occupied(_ path: String) -> InspectError {
    .notFound(
      "There is something at \(path) already, which is not written over; choose another path.")
  }

  static func unreadable(_ description: String) -> InspectError {
    InspectError(code: .unreadable, description: description)
  }

}

extension InspectError {
  /// What any error of a verb means for the process.
  init(_ error: any Error, on path: String) {
    switch error {
    case let error as InspectError: self = error
    case let error as ArborError where Self.codesOfQuestions.contains(error.code):
      self = .notFound("\(error)")
    default: self = .unreadable("\(path): \(error)")
    }
  }

  /// What was asked for is at fault, not the file.
  private static let codesOfQuestions: Set<ArborError.Code> = [
    .invalidPredicate, .unknownName, .typeMismatch,
  ]
}
