import ArgumentParser

/// `lmdb-inspect`: looks into LMDB files, and says more when the file is a store of ours.
///
/// One verb is one file in `Verbs`. A verb reads through `InspectedFile`, which opens for reading
/// only, and answers through `Printer`, as text or as one JSON document.
@main struct Inspect: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lmdb-inspect",
    abstract: "Looks into LMDB files, and says more when the file is a store of ArborData.",
    discussion: """
      Nothing is ever written to the file but by “load”, “compact”, “migrate”, “revert” and \
      “backup”, which takes down in it how far the log has its commits, and by “serve --write”. \
      A store that another \
      process has open can be read safely: the tool takes part in LMDB's locking as every reader \
      does.

      Exit codes: 0, the answer was printed; 1, what was asked for is not there, or a check found \
      problems; 2, the file could not be read; 64, the command was not understood.
      """,
    subcommands: [
      InfoVerb.self, TablesVerb.self, DumpVerb.self, GetVerb.self, ShowVerb.self, SchemaVerb.self,
      IndexVerb.self, CheckVerb.self, LoadVerb.self, SpaceVerb.self, CopyVerb.self,
      CompactVerb.self, ReadersVerb.self, PlanVerb.self, MigrateVerb.self, RevertVerb.self,
      BackUpVerb.self, RestoreVerb.self, FollowVerb.self, LogVerb.self, ServeVerb.self,
    ])
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
