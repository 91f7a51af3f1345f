internal import ArborModel

/// Why something was not done by a server, and what is known of it.
struct PostgresFailure: Error {
  enum Kind {
    /// Nothing was sent.
    case unreachable
    /// The server said no; whatever belonged to the transaction was undone.
    case refused
    /// Something was sent, and no whole answer came: it may have been done or not, or be done
    /// later.
    case lost
    /// It was done, with a warning: it may not be where it has to be to last.
    case doubtful
    /// What is in the database is not the log's.
    case unsuitable(ArborError)
  }

  let kind: Kind
  /// The five characters with which a server says what happened; nil where none did.
  let state: String?
  let message: String

  init(_ kind: Kind, state: String? = nil, _ message: String) {
    self.kind = kind
    self.state = state
    self.message = message
  }

  init(_ error: ArborError) { self.init(.unsuitable(error), error.message) }

  /// Whether it may have been done all the same.
  var leavesDoubt: Bool {
    switch kind {
    case .lost, .doubtful: true
    // A statement whose completion is unknown, as distributed servers say it.
    case .refused: state == "40003"
    case .unreachable, .unsuitable: false
    }
  }

  /// Whether the connection can go on being used.
  var leavesConnection: Bool {
    switch kind {
    case .refused: !isOfConnection
    case .doubtful, .unsuitable: true
    case .unreachable, .lost: false
    }
  }

  /// Whether the same may succeed a little later, or on another server.
  var isTemporary: Bool {
    switch kind {
    case .unreachable, .lost, .doubtful: state.map { !Self.areFinal.contains($0.prefix(2)) } ?? true
    case .unsuitable: false
    case .refused:
      isOfConnection || ["40", "08"].contains(state?.prefix(2)) || state == "57014"
        || state == "55P03"
    }
  }

  /// Whether the server is not, or no longer, the one that is written to, or has forgotten what it
  /// was told before.
  private var isOfConnection: Bool {
    guard let state else { return false }
    return ["25006", "26000", "57P01", "57P02", "57P03"].contains(state)
  }

  /// Classes of errors of authentication and of names of databases: no wait mends them.
  private static let areFinal: Set<Substring> = ["28", "3D"]

  /// What happened as part of a sentence.
  var clause: String { message.asClause + (state.map { " (SQLSTATE \($0))" } ?? "") }
}
