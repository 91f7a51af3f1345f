internal import ArborLocks
internal import Dispatch

/// A sender that notifies listeners of a log's new entries, on a connection of its own.
///
/// A notification that is part of a commit holds a lock on all databases of the server until the
/// commit is durable. Notifications are therefore sent after the commit, at most every ten
/// milliseconds for all commits since, and without waiting for durability: a store that misses one
/// polls the log anyway.
final class NewsSender: Sendable {
  private struct State {
    var isScheduled = false
    /// The earliest time for the next notification.
    var earliest = DispatchTime.now()
    var connection: PostgresConnection?
  }

  private static let interval = DispatchTimeInterval.milliseconds(10)
  private static let waitLimit = Duration.seconds(1)

  private let pool: ConnectionPool
  private let payload: String
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "arbor.postgres.news")

  init(_ pool: ConnectionPool, _ payload: String) {
    self.pool = pool
    self.payload = payload
  }

  /// Schedules a notification. Returns immediately and ignores failures.
  func send() {
    let time = state.withLock { state -> DispatchTime? in
      defer { state.isScheduled = true }
      return state.isScheduled ? nil : max(.now(), state.earliest)
    }
    guard let time else { return }
    queue.asyncAfter(deadline: time) { [weak self] in self?.notify() }
  }

  /// Sends a scheduled notification immediately, and waits until it has been sent.
  func flush() { queue.sync { notify() } }

  private func notify() {
    let (isWanted, connection) = state.withLock { state in
      guard state.isScheduled else { return (false, PostgresConnection?.none) }
      state.isScheduled = false
      state.earliest = .now() + Self.interval
      defer { state.connection = nil }
      return (true, state.connection)
    }
    guard isWanted else { return }
    let deadline = Deadline(Self.waitLimit)
    do throws(PostgresFailure) {
      let usable: PostgresConnection
      if let connection, connection.isUsable {
        usable = connection
      } else {
        usable = try pool.open(until: deadline)
        _ = try usable.run(
          [PostgresStatement("SELECT set_config('synchronous_commit', 'off', false)")],
          deadline: deadline)
      }
      _ = try usable.run(
        [PostgresStatement("SELECT pg_notify('\(NewsListener.channel)', $1)", .text(payload))],
        deadline: deadline)
      state.withLock { $0.connection = usable }
    } catch {}
  }
}
