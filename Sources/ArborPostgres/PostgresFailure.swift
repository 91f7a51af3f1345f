internal import ArborModel

/// The failure of an operation on a server, and what is known about its effect.
struct PostgresFailure: Error {
  enum Kind {
    /// Nothing was sent.
    case unreachable
    /// The server rejected a statement and rolled the transaction back.
    case refused
    /// Statements were sent, but not all results were received. It is unknown whether the
    /// statements have been or will be executed.
    case lost
    /// The statements were executed with a warning: they may not be durable.
    case doubtful
    /// The database contains something other than the tables of a log.
    case unsuitable(ArborError)
  }

  let kind: Kind
  /// The SQLSTATE of the error, or `nil` if the server sent none.
  let state: String?
  let message: String

  init(_ kind: Kind, state: String? = nil, _ message: String) {
    self.kind = kind
    self.state = state
    self.message = message
  }

  init(_ error: ArborError) { self.init(.unsuitable(error), error.message) }

  /// Whether the statements may have been executed despite the failure.
  var leavesDoubt: Bool {
    switch kind {
    case .lost, .doubtful: true
    // "Statement completion unknown", as reported by distributed servers.
    case .refused: state == "40003"
    case .unreachable, .unsuitable: false
    }
  }

  /// Whether the connection can still be used.
  var leavesConnection: Bool {
    switch kind {
    case .refused: !isOfConnection
    case .doubtful, .unsuitable: true
    case .unreachable, .lost: false
    }
  }

  /// Whether the operation may succeed later or on another server.
  var isTemporary: Bool {
    switch kind {
    case .unreachable, .lost, .doubtful: state.map { !Self.areFinal.contains($0.prefix(2)) } ?? true
    case .unsuitable: false
    case .refused:
      isOfConnection || ["40", "08"].contains(state?.prefix(2)) || state == "57014"
        || state == "55P03"
    }
  }

  /// Whether the server is not, or no longer, the primary, or has lost the session's state.
  private var isOfConnection: Bool {
    guard let state else { return false }
    return ["25006", "26000", "57P01", "57P02", "57P03"].contains(state)
  }

  /// The error classes of authentication and of missing databases, for which retrying is futile.
  private static let areFinal: Set<Substring> = ["28", "3D"]

  /// The message and the SQLSTATE as a clause for use within a sentence.
  var clause: String { message.asClause + (state.map { " (SQLSTATE \($0))" } ?? "") }
}
