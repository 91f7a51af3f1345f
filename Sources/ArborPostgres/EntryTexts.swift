/// The statements about the entries of a log and its counters.
///
/// As all others they are plain SQL, without functions of a server, advisory locks, or a level of
/// isolation beyond the usual one, so that other servers that speak the protocol understand them.
/// `$1` is the name of the log: its store is looked up each time, so that nothing that a program
/// remembers can be out of date.
struct EntryTexts: Sendable {
  /// The most rows and about the most bytes of entries that are read at once.
  static let mostEntries = 500
  static let mostBytes = 16 << 20

  /// Adds an entry whose predecessor is the newest one before it. Two that follow the same one have
  /// the same key, of which one is added.
  let append: String
  /// The entry before `$2` without its body, then those from it on, without the body of the batch
  /// `$3`: what somebody needs who could not add one.
  let newer: String
  /// The store and its newest entry.
  let head: String
  let behind: String
  /// Changes nothing; its commit ends once all before it is where it has to be to last.
  let confirm: String
  let reserve: String
  /// Removes up to ``trimmedAtOnce`` entries that the newest snapshot does without.
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
      ORDER BY seq LIMIT \(Self.mostEntries)
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

  /// The rows of a query of entries up to about as many bytes as are read at once, at least one.
  private static func bounded(_ query: String) -> String {
    """
    SELECT seq, last, batch, previous, digest, body FROM (
      SELECT found.*, sum(coalesce(octet_length(body), 0)) OVER (ORDER BY seq)
        - coalesce(octet_length(body), 0) AS ahead FROM (\(query)) AS found) AS summed
    WHERE ahead < \(mostBytes) ORDER BY seq
    """
  }
}
