internal import ArborLocks
public import ArborLog
public import ArborModel
internal import Foundation

/// A commit log in a PostgreSQL database, through which several machines write to one store.
///
/// ```swift
/// let log = try PostgresLog("host=a,b,c dbname=arbor user=staff", store: "staff")
/// ```
///
/// The database stores the entries, and its standbys replicate them; each machine has the entire
/// store in a local file. A database may contain logs of any number of stores, each under its own
/// name. The first call creates the tables, in the schema `public` by default.
///
/// Creating a `PostgresLog` doesn't connect to a server. If a connection is lost, each call is
/// retried within ``Options/timeout`` and uses the current primary server, so that a failover is
/// only a delay. An entry acknowledged with `AppendResult.written` is durable on the server and on
/// as many standbys as `synchronous_standby_names` requires; sessions set `synchronous_commit` to
/// `on` if it is `off` or `local`.
///
/// Only plain SQL is used. YugabyteDB and CockroachDB, which use the same protocol, are untested.
///
/// All methods are thread-safe, and block.
public final class PostgresLog: CommitLog {
  /// The name of the log in messages, with the database and the servers. Contains no password.
  public let name: String
  /// The name of the log in its database.
  public let store: String

  /// Zero: each call is retried internally, for ``Options/timeout``.
  public var waitLimit: Duration { .zero }

  let options: Options
  let tables: PostgresTables
  let pool: ConnectionPool
  let entryTexts: EntryTexts
  let snapshotTexts: SnapshotTexts
  /// The batches whose outcome is unknown.
  let doubted = Lock<Set<UUID>>([])
  /// Whether another entry was appended first during the most recent append.
  let lostLast = Lock(false)
  let notifier: NewsSender
  let listener: NewsListener

  /// Creates a reference to a log without connecting to a server.
  ///
  /// - Parameters:
  ///   - connection: A connection string of libpq, `host=a,b dbname=arbor` or
  ///     `postgresql://a,b/arbor`, with any number of hosts, and with TLS parameters of libpq
  ///     (`sslmode`, `sslrootcert`). The host that accepts writes is used, because
  ///     `target_session_attrs=read-write` is the default. Other missing parameters come from
  ///     libpq's environment and files (`PGUSER`, `PGPASSWORD`, `~/.pgpass`).
  ///   - store: The name of the log in the database: 1 to 200 bytes of UTF-8.
  ///   - options: The timeouts, the schema of the tables, and the number of connections.
  /// - Throws: `ArborError` `invalidArgument` for a string that libpq cannot parse, and for an
  ///   invalid name or option. The message never quotes the string.
  public init(
    _ connection: String, store: String = "main", options: Options = Options()
  ) throws(ArborError) {
    let parameters = try ConnectionParameters(connection)
    try options.validate()
    try Self.check(store, "The name of a log", maximumLength: 200)
    self.store = store
    self.options = options
    name = "\(store) in \(parameters.name)"
    tables = PostgresTables(schema: options.schema)
    pool = ConnectionPool(parameters, options, tables)
    snapshotTexts = SnapshotTexts(tables)
    entryTexts = EntryTexts(tables, snapshotTexts)
    let payload = "\(options.schema)/\(store)"
    notifier = NewsSender(pool, payload)
    listener = NewsListener(pool, payload)
  }

  deinit { listener.stop() }

  /// Returns the newest position of the log, or `nil` if the log has not been begun.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `corrupted` if entries are missing.
  public func head() throws(ArborError) -> CommitLogHead? {
    let rows = try read(PostgresStatement(entryTexts.head, .text(store)))
    guard rows.count > 0 else { return nil }
    guard let id = rows.uuid(0, 0), let last = rows.number(0, 1),
      let digest = rows.bytes(0, 2).flatMap({ CommitLogDigest(bytes: $0) })
    else { throw damaged("it has a name but no entries") }
    return CommitLogHead(store: id, sequence: last, digest: digest)
  }

  /// Reserves numbers of a counter, which are never returned again.
  ///
  /// If a response is lost, other numbers are reserved.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `invalidArgument` for a count of 0, for more numbers
  ///   than a counter has, and for a log that has not been begun.
  public func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    guard count > 0, !counter.utf8.contains(0), let size = Int64(exactly: count),
      let lowest = Int64(exactly: least), lowest <= .max - size
    else {
      throw ArborError(
        .invalidArgument,
        "The counter \(counter) of the log \(name) cannot reserve a range of size \(count) from "
          + "\(least). Use a size of at least 1, and numbers up to \(Int64.max).")
    }
    let statement = PostgresStatement(
      entryTexts.reserve, .text(store), .text(counter), .integer(size), .integer(lowest))
    // Numbers reserved by a call whose response was lost are skipped, which is harmless.
    let rows = try read(statement)
    guard rows.count > 0 else {
      throw ArborError(
        .invalidArgument, "The log \(name) doesn't exist. Share the store through it first.")
    }
    guard let end = rows.number(0, 0), end >= count else {
      throw damaged("its counter \(counter) is damaged")
    }
    return (end - count)..<end
  }

  /// Returns the first number of each counter that has not been reserved yet, by the counter's name.
  ///
  /// - Throws: `ArborError` `logUnavailable`, `corrupted`.
  public func counters() throws(ArborError) -> [String: UInt64] {
    let rows = try read(PostgresStatement(entryTexts.counters, .text(store)))
    var counters: [String: UInt64] = [:]
    for row in 0..<rows.count {
      guard let name = rows.text(row, 0), let next = rows.number(row, 1) else {
        throw damaged("the row of a counter is damaged")
      }
      counters[name] = next
    }
    return counters
  }

  /// Returns a stream that yields a value whenever the server reports that the log may have new
  /// entries.
  ///
  /// The notifications arrive on a separate connection. While that connection is lost, the stream
  /// yields nothing.
  ///
  /// - Returns: A stream that ends when it is no longer iterated, or when the log is released.
  public func news() -> AsyncStream<Void>? { listener.news() }

  /// Sends pending notifications, and waits for the listening thread to end if no stream is being
  /// iterated.
  public func waitUntilIdle() {
    notifier.flush()
    listener.waitUntilIdle()
  }

  func damaged(_ what: String) -> ArborError {
    ArborError(
      .corrupted,
      "The log \(name) is damaged: \(what). Restore the database, or remove the log and recreate "
        + "it from a copy of the store.")
  }
}
