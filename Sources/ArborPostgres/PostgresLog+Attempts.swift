internal import ArborModel
internal import Foundation

extension PostgresLog {
  /// The outcome of an operation after all attempts.
  enum Outcome<Result> {
    case done(Result)
    /// It is unknown whether the operation was executed. Contains the last failure.
    case unknown(PostgresFailure)
  }

  /// Tries an operation, on any server, until it succeeds, fails permanently, or exceeds the
  /// timeout.
  ///
  /// - Parameters:
  ///   - bytes: The approximate amount of data transferred, which extends the timeout.
  ///   - body: A closure that makes one attempt, given a connection and a deadline. It must
  ///     tolerate being repeated after an attempt with an unknown outcome.
  /// - Throws: The error for the caller, which guarantees that nothing was changed.
  func attempt<Result>(
    bytes: Int = 0, _ body: (PostgresConnection, Deadline) throws(PostgresFailure) -> Result
  ) throws(ArborError) -> Outcome<Result> {
    let moving = Duration.seconds(bytes >> 20)
    let deadline = Deadline(options.timeout + moving)
    let waitLimit = options.statementTimeout + .seconds(1) + moving
    var isInDoubt = false
    var pause = 0.01
    while true {
      do throws(PostgresFailure) {
        return .done(
          try pool.withConnection(until: deadline) { (connection) throws(PostgresFailure) in
            try body(connection, deadline.atMost(waitLimit))
          })
      } catch {
        if case .unsuitable(let found) = error.kind { throw found }
        isInDoubt = isInDoubt || error.leavesDoubt
        guard error.isTemporary, deadline.left > .seconds(pause) else {
          if isInDoubt { return .unknown(error) }
          throw self.error(error)
        }
        Thread.sleep(forTimeInterval: pause)
        pause = min(2 * pause, 0.5)
      }
    }
  }

  /// Runs a statement that can be repeated: one that only reads, or whose effect is irrelevant if
  /// its response is lost.
  func read(_ statement: PostgresStatement, bytes: Int = 0) throws(ArborError) -> PostgresResult {
    try run([statement], bytes, unknown: error)[0]
  }

  /// Runs idempotent statements in one transaction.
  func write(
    _ statements: [PostgresStatement], bytes: Int = 0
  ) throws(ArborError) -> [PostgresResult] {
    try run(statements, bytes) { failure in
      ArborError(
        .outcomeUnknown,
        "It is unknown whether the log \(name) was changed: \(failure.clause). Repeat the call to "
          + "find out.")
    }
  }

  /// - Parameter unknown: A closure that returns the error for an unknown outcome.
  private func run(
    _ statements: [PostgresStatement], _ bytes: Int, unknown: (PostgresFailure) -> ArborError
  ) throws(ArborError) -> [PostgresResult] {
    let outcome = try attempt(bytes: bytes) { (connection, deadline) throws(PostgresFailure) in
      try connection.run(statements, deadline: deadline)
    }
    switch outcome {
    case .done(let results): return results
    case .unknown(let failure): throw unknown(failure)
    }
  }

  func error(_ failure: PostgresFailure) -> ArborError {
    let text =
      switch failure.kind {
      case .refused where !failure.isTemporary:
        "The server of the log \(name) rejected a statement: \(failure.clause). \(advice(failure))"
      case _ where !failure.isTemporary:
        "No server of the log \(name) accepted the login: \(failure.clause). Correct the "
          + "connection string or the server's permissions."
      default:
        "The log \(name) could not be reached within \(options.timeout): \(failure.clause). Try "
          + "again when its server is available."
      }
    return ArborError(.logUnavailable, text)
  }

  private func advice(_ failure: PostgresFailure) -> String {
    switch failure.state {
    case "42501":
      "Grant the role CREATE on the schema \(options.schema) for the first call, and SELECT, "
        + "INSERT, UPDATE and DELETE on the log's tables for all others."
    case "53100": "Free space on the server's disk."
    default: "Nothing was changed."
    }
  }
}
