internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// A pool of connections to the primary server.
final class ConnectionPool: Sendable {
  private struct State {
    var idle: [PostgresConnection] = []
    /// The index of the server to try first, which is the most recent one that worked.
    var server = 0
    var isSchemaChecked = false
  }

  let parameters: ConnectionParameters
  private let options: PostgresLog.Options
  private let tables: PostgresTables
  private let state = Lock(State())
  private let slots: DispatchSemaphore

  init(
    _ parameters: ConnectionParameters, _ options: PostgresLog.Options, _ tables: PostgresTables
  ) {
    self.parameters = parameters
    self.options = options
    self.tables = tables
    slots = DispatchSemaphore(value: options.connections)
  }

  /// Runs `body` with exclusive access to a connection.
  func withConnection<R>(
    until deadline: Deadline, _ body: (PostgresConnection) throws(PostgresFailure) -> R
  ) throws(PostgresFailure) -> R {
    guard slots.wait(timeout: deadline.dispatchTime) == .success else {
      throw PostgresFailure(.unreachable, "All \(options.connections) connections are in use")
    }
    defer { slots.signal() }
    let connection: PostgresConnection
    if let idle = idle() { connection = idle } else { connection = try open(until: deadline) }
    do throws(PostgresFailure) {
      let result = try body(connection)
      state.withLock { $0.idle.append(connection) }
      return result
    } catch {
      if error.leavesConnection {
        state.withLock { $0.idle.append(connection) }
      } else {
        // Other connections to the same server are affected as well.
        state.withLock { (state) in
          state.idle = []
          if case .lost = error.kind {
            state.server = (state.server + 1) % parameters.servers.count
          }
        }
      }
      throw error
    }
  }

  private func idle() -> PostgresConnection? {
    while let connection = state.withLock({ $0.idle.popLast() }) {
      if connection.isUsable { return connection }
    }
    return nil
  }

  /// Connects to the first server that accepts writes.
  func open(until deadline: Deadline) throws(PostgresFailure) -> PostgresConnection {
    let (first, isChecked) = state.withLock { ($0.server, $0.isSchemaChecked) }
    let count = parameters.servers.count
    let waitLimit = parameters.connectTimeout.map { Duration.seconds($0) } ?? options.connectTimeout
    var failures: [PostgresFailure] = []
    for index in (0..<count).map({ (first + $0) % count }) {
      do throws(PostgresFailure) {
        let limit = deadline.atMost(waitLimit)
        let connection = try PostgresConnection.open(parameters.servers[index], deadline: limit)
        try setUp(connection, limit)
        if !isChecked {
          try SchemaCheck(tables: tables, connection: connection, deadline: deadline).run()
        }
        state.withLock { (state) in
          state.server = index
          state.isSchemaChecked = true
        }
        return connection
      } catch {
        if case .unsuitable = error.kind { throw error }
        if case .refused = error.kind, !error.isTemporary { throw error }
        failures.append(error)
      }
    }
    // If any of the servers may respond later, the call is worth retrying.
    let state = failures.allSatisfy { !$0.isTemporary } ? failures.first?.state : nil
    throw PostgresFailure(
      .unreachable, state: state, failures.map(\.message.asClause).joined(separator: "; "))
  }

  /// Configures the session. Settings unknown to the server are skipped.
  private func setUp(
    _ connection: PostgresConnection, _ deadline: Deadline
  ) throws(PostgresFailure) {
    let (seconds, attoseconds) = options.statementTimeout.components
    let timeout = max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    _ = try connection.run(
      [PostgresStatement(Self.settings, .text(String(timeout)))], deadline: deadline)
  }

  /// The session's settings. The statements rely on the isolation level. With the keepalives, the
  /// server drops a vanished client within half a minute, so that its open transaction doesn't
  /// block others for longer. Synchronous commit makes acknowledged transactions durable, and also
  /// waits for standbys if the server is configured to do so.
  private static let settings = """
    SELECT set_config(wanted.name, wanted.value, false) FROM (VALUES
      ('statement_timeout', $1), ('default_transaction_isolation', 'read committed'),
      ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
      ('tcp_keepalives_count', '3'), ('synchronous_commit', 'on')) AS wanted (name, value)
    JOIN pg_catalog.pg_settings AS settings ON settings.name = wanted.name
    WHERE wanted.name <> 'synchronous_commit' OR settings.setting IN ('off', 'local')
    """
}
