internal import ArborLocks
internal import Dispatch

/// Tells listeners that a log has something new, on a connection of its own.
///
/// A notification that is part of a commit takes a lock over all databases of the server until the
/// commit is on the medium. So it is sent behind the commit, at most every ten milliseconds for all
/// commits since, and without waiting for the medium: a store that misses one looks by itself.
final class NewsSender: Sendable {
  private struct State {
    var isScheduled = false
    /// Before when the next one is not sent.
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

  /// Sends a notification soon. It takes no time, and fails without a word.
  func send() {
    let time = state.withLock { state -> DispatchTime? in
      defer { state.isScheduled = true }
      return state.isScheduled ? nil : max(.now(), state.earliest)
    }
    guard let time else { return }
    queue.asyncAfter(deadline: time) { [weak self] in self?.notify() }
  }

  /// Sends at once what is to be sent soon, and waits for it.
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
