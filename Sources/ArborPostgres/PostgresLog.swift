internal import ArborLocks
public import ArborLog
public import ArborModel
internal import Foundation

/// A log in a PostgreSQL database, through which several machines write to one store.
///
/// ```swift
/// let log = try PostgresLog("host=a,b,c dbname=arbor user=staff", store: "staff")
/// ```
///
/// The database keeps the entries, and its standbys keep them safe; each machine has the whole
/// store in a file of its own. One database holds the logs of any number of stores, each under a
/// name. The tables are made by the first call, in the schema `public` unless the options say
/// otherwise.
///
/// Making a log connects to nothing. Each call tries again within ``Options/timeout`` where a
/// connection is lost, and goes on with the server that is written to by then, so that failing over
/// is a delay. What was answered with `AppendResult.written` is on the medium of the server, and of
/// as many standbys as `synchronous_standby_names` asks for; a session turns `synchronous_commit`
/// on where it is `off` or `local`.
///
/// Only plain SQL is used. YugabyteDB and CockroachDB, which speak the same protocol, are untested.
///
/// All methods may be called from several threads at once, and block.
public final class PostgresLog: CommitLog {
  /// What messages call the log: its name, the database and the servers. It holds no password.
  public let name: String
  /// The name of the log in its database.
  public let store: String

  /// None: a call asks again by itself, for ``Options/timeout``.
  public var waitLimit: Duration { .zero }

  let options: Options
  let tables: PostgresTables
  let pool: ConnectionPool
  let entryTexts: EntryTexts
  let snapshotTexts: SnapshotTexts
  /// The batches of which nobody could say whether they are in the log.
  let doubted = Lock<Set<UUID>>([])
  /// Whether another was faster when the newest entry was to be added.
  let lostLast = Lock(false)
  let notifier: NewsSender
  let listener: NewsListener

  /// Names a log; nothing is connected to.
  ///
  /// - Parameters:
  ///   - connection: A connection string of libpq, `host=a,b dbname=arbor` or
  ///     `postgresql://a,b/arbor`, with any number of hosts and TLS as libpq has it (`sslmode`,
  ///     `sslrootcert`). Of the hosts, the one that takes writes is used, as
  ///     `target_session_attrs=read-write` asks for, which is set unless the string says otherwise.
  ///     What it leaves out comes from the environment and files of libpq (`PGUSER`,
  ///     `PGPASSWORD`, `~/.pgpass`).
  ///   - store: The name of the log among those of the database: 1 to 200 bytes of UTF-8.
  ///   - options: How long to wait, and where the tables are.
  /// - Throws: `ArborError` `invalidArgument` for a string that libpq does not read, a name or an
  ///   option that no log has. The message quotes nothing of the string.
  public init(
    _ connection: String, store: String = "main", options: Options = Options()
  ) throws(ArborError) {
    let parameters = try ConnectionParameters(connection)
    try options.validate()
    try Self.check(store, "The name of a log", longest: 200)
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

  /// How far the log is; nil for one that nobody has begun.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `corrupted` where entries are missing.
  public func head() throws(ArborError) -> CommitLogHead? {
    let rows = try read(PostgresStatement(entryTexts.head, .text(store)))
    guard rows.count > 0 else { return nil }
    guard let id = rows.uuid(0, 0), let last = rows.number(0, 1),
      let digest = rows.bytes(0, 2).flatMap({ CommitLogDigest(bytes: $0) })
    else { throw damaged("it has a name but no entries") }
    return CommitLogHead(store: id, sequence: last, digest: digest)
  }

  /// Takes numbers of a counter that nobody gets again. Where an answer is lost, others are taken.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `invalidArgument` for a count of 0, for more
  ///   numbers than a counter has, and for a log that nobody has begun.
  public func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    guard count > 0, !counter.utf8.contains(0), let size = Int64(exactly: count),
      let lowest = Int64(exactly: least), lowest <= .max - size
    else {
      throw ArborError(
        .invalidArgument,
        "Cannot reserve \(count) numbers from \(least) of the counter \(counter). Counters of "
          + "\(name) go up to \(Int64.max).")
    }
    let statement = PostgresStatement(
      entryTexts.reserve, .text(store), .text(counter), .integer(size), .integer(lowest))
    // Numbers that were taken without an answer are lost, which does no harm.
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

  /// Gives something each time that the log may have something new, as soon as the server tells, on
  /// a connection of its own. While that is lost nothing comes.
  ///
  /// - Returns: A sequence that ends when it is no longer iterated, or when the log is released.
  public func news() -> AsyncStream<Void>? { listener.news() }

  /// Sends what is left to tell others, and waits for the thread that listens for news, if nobody
  /// iterates over them any more.
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
