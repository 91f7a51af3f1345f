/// The SQL statements for a log's entries and counters.
///
/// Like all other statements they are plain SQL without stored functions, advisory locks or an
/// isolation level beyond the default, so that other servers with the same protocol support them.
/// `$1` is the name of the log. Its store is looked up on every call, so that no stale value is
/// used.
struct EntryTexts: Sendable {
  /// The maximum number of rows that a query returns.
  static let maximumEntries = 500
  /// The approximate maximum number of bytes that a query returns.
  static let maximumBytes = 16 << 20

  /// Appends an entry if its predecessor is the newest entry before it, which is optimistic
  /// concurrency control. Two entries with the same predecessor have the same key, so that only one
  /// of them is inserted.
  let append: String
  /// Selects the result of a failed append: the entry before `$2`, without its body, and the
  /// entries from `$2` on. The body of the batch `$3` is omitted.
  let newer: String
  /// Selects the store and its newest entry.
  let head: String
  let behind: String
  /// Changes nothing. Its commit returns once all earlier commits are durable.
  let confirm: String
  let reserve: String
  let counters: String
  /// Removes up to ``trimmedAtOnce`` entries up to `$2` that precede the newest snapshot.
  let trim: String
  static let trimmedAtOnce = 10_000

  init(_ tables: PostgresTables, _ snapshots: SnapshotTexts) {
    let (log, stores) = (tables.log, tables.stores)
    let store = SnapshotTexts.store(in: tables)
    append = """
      INSERT INTO \(log) (store, seq, last, batch, previous, digest, body)
      SELECT newest.store, $2, $3, $4, $5, $6, $7 FROM (
        SELECT store, last, digest FROM \(log) WHERE store = \(store) AND seq < $2
        ORDER BY seq DESC LIMIT 1) AS newest
      WHERE newest.last = $2 - 1 AND newest.digest = $5
      ON CONFLICT DO NOTHING
      """
    newer = Self.bounded(
      """
      SELECT seq, last, batch, previous, digest,
        CASE WHEN seq < $2 OR batch = $3 THEN NULL ELSE body END AS body
      FROM \(log) WHERE store = \(store) AND seq >= coalesce(
        (SELECT max(seq) FROM \(log) WHERE store = \(store) AND seq < $2), $2)
      ORDER BY seq LIMIT \(Self.maximumEntries)
      """)
    head = """
      SELECT stores.store, newest.last, newest.digest FROM \(stores) AS stores
      LEFT JOIN \(log) AS newest ON newest.store = stores.store AND newest.seq =
        (SELECT max(seq) FROM \(log) AS entries WHERE entries.store = stores.store)
      WHERE stores.name = $1
      """
    behind = Self.bounded(
      """
      SELECT seq, last, batch, previous, digest, body
      FROM \(log) WHERE store = \(store) AND seq > $2 AND octet_length(body) > 0
      ORDER BY seq LIMIT $3
      """)
    confirm = "UPDATE \(stores) SET name = name WHERE name = $1"
    reserve = """
      INSERT INTO \(tables.counters) AS counters (store, name, next)
      SELECT store, $2, $4::bigint + $3::bigint FROM \(stores) WHERE name = $1
      ON CONFLICT (store, name)
      DO UPDATE SET next = greatest(counters.next, $4::bigint) + $3::bigint RETURNING next
      """
    counters = "SELECT name, next FROM \(tables.counters) WHERE store = \(store)"
    trim = Self.trim(log, of: store, snapshots)
  }

  private static func trim(_ log: String, of store: String, _ snapshots: SnapshotTexts) -> String {
    """
    DELETE FROM \(log) WHERE store = \(store) AND seq IN (
      SELECT seq FROM \(log) WHERE store = \(store) AND last <= $2
        AND last < (SELECT seq \(snapshots.counting))
      ORDER BY seq LIMIT \(trimmedAtOnce)) RETURNING seq
    """
  }

  /// Returns a query that limits the rows of a query of entries by their total size, to at least
  /// one row.
  private static func bounded(_ query: String) -> String {
    """
    SELECT seq, last, batch, previous, digest, body FROM (
      SELECT found.*, sum(coalesce(octet_length(body), 0)) OVER (ORDER BY seq)
        - coalesce(octet_length(body), 0) AS ahead FROM (\(query)) AS found) AS summed
    WHERE ahead < \(maximumBytes) ORDER BY seq
    """
  }
}
