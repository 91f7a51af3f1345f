/// The SQL statements for a log's snapshots, and for creating and removing the log.
struct SnapshotTexts: Sendable {
  /// Selects the store of the log `$1`.
  let store: String
  /// Selects the name of the log of the store `$1`.
  let name: String
  let addName: String
  /// Inserts the first entry of a log, which has the snapshot's identity and no body.
  let addRoot: String
  /// Inserts an entry into the log that begins with the snapshot `$8`.
  let addEntry: String
  /// Selects a row if the log of the store `$1` begins with the snapshot `$2`.
  let root: String
  let add: String
  let addPart: String
  /// Marks a snapshot as complete if it has `$3` parts. Returns a row if the snapshot was marked.
  let complete: String
  /// Statements that remove the remains, older than a day, of attempts to begin a log of the store
  /// `$1`, and parts without a snapshot.
  let clear: [String]
  let newest: String
  let size: String
  let part: String
  /// Statements that remove snapshots other than the newest valid one. Those that may become valid
  /// are kept for a day.
  let trim: [String]
  let removeLog: [String]

  /// The clauses that follow the columns in a query for the newest valid snapshot. Whether a
  /// snapshot belongs to this history is determined by the entry at or before its last commit.
  let counting: String

  /// Returns a subquery for the store of the log `$1`.
  static func store(in tables: PostgresTables) -> String {
    "(SELECT store FROM \(tables.stores) WHERE name = $1)"
  }

  init(_ tables: PostgresTables) {
    let (log, stores) = (tables.log, tables.stores)
    let (snapshots, parts) = (tables.snapshots, tables.parts)
    store = "SELECT store FROM \(stores) WHERE name = $1"
    name = "SELECT name FROM \(stores) WHERE store = $1"
    addName = "INSERT INTO \(stores) (name, store) VALUES ($1, $2) ON CONFLICT DO NOTHING"
    addRoot = """
      INSERT INTO \(log) (store, seq, last, batch, previous, digest, body)
      SELECT store, $3, $3, $4, $5, $5, ''::bytea FROM \(stores) WHERE name = $1 AND store = $2
        AND NOT EXISTS (SELECT 1 FROM \(log) WHERE store = $2)
      ON CONFLICT DO NOTHING
      """
    addEntry = """
      INSERT INTO \(log) (store, seq, last, batch, previous, digest, body)
      SELECT store, $2, $3, $4, $5, $6, $7 FROM \(log) WHERE store = $1 AND batch = $8
      ON CONFLICT DO NOTHING
      """
    root = "SELECT 1 FROM \(log) WHERE store = $1 AND batch = $2"
    add = """
      INSERT INTO \(snapshots) (store, id, seq, digest, bytes, made, complete)
      VALUES ($1, $2, $3, $4, $5, now(), false) ON CONFLICT DO NOTHING
      """
    addPart = """
      INSERT INTO \(parts) (store, id, part, body) SELECT store, id, $3, $4 FROM \(snapshots)
      WHERE store = $1 AND id = $2 AND NOT complete ON CONFLICT DO NOTHING
      """
    complete = """
      UPDATE \(snapshots) SET complete = true WHERE store = $1 AND id = $2
        AND (SELECT count(*) FROM \(parts) WHERE store = $1 AND id = $2) = $3 RETURNING seq
      """
    counting = Self.counting(in: tables)
    newest = "SELECT id, store, seq, digest \(counting)"
    size = "SELECT bytes FROM \(snapshots) WHERE store = $1 AND id = $2 AND complete"
    part = "SELECT body FROM \(parts) WHERE store = $1 AND id = $2 AND part = $3"
    clear = Self.clear(tables)
    trim = Self.trim(tables)
    removeLog = Self.removeLog(tables)
  }

  private static func counting(in tables: PostgresTables) -> String {
    """
    FROM \(tables.snapshots) AS snapshots WHERE store = \(store(in: tables)) AND complete AND (
      SELECT entries.last = snapshots.seq AND entries.digest = snapshots.digest
      FROM \(tables.log) AS entries WHERE entries.store = snapshots.store
        AND entries.seq <= snapshots.seq ORDER BY entries.seq DESC LIMIT 1)
    ORDER BY seq DESC, id LIMIT 1
    """
  }

  private static func clear(_ tables: PostgresTables) -> [String] {
    [
      """
      DELETE FROM \(tables.snapshots) WHERE store = $1 AND made < now() - interval '1 day'
        AND NOT EXISTS (SELECT 1 FROM \(tables.stores) WHERE store = $1)
      """, lostParts(in: tables, of: "$1"),
    ]
  }

  private static func trim(_ tables: PostgresTables) -> [String] {
    let (id, counting) = (store(in: tables), counting(in: tables))
    return [
      // Snapshots that are being written, or may become valid soon, are kept for a day.
      """
      DELETE FROM \(tables.snapshots) WHERE store = \(id) AND id <> (SELECT id \(counting))
        AND (complete AND seq <= (SELECT seq \(counting)) OR made < now() - interval '1 day')
      """, lostParts(in: tables, of: id),
    ]
  }

  /// Returns a statement that removes parts without a snapshot.
  private static func lostParts(in tables: PostgresTables, of store: String) -> String {
    """
    DELETE FROM \(tables.parts) AS parts WHERE store = \(store) AND NOT EXISTS (
      SELECT 1 FROM \(tables.snapshots) AS snapshots
      WHERE snapshots.store = parts.store AND snapshots.id = parts.id)
    """
  }

  private static func removeLog(_ tables: PostgresTables) -> [String] {
    let id = store(in: tables)
    return [tables.parts, tables.snapshots, tables.counters, tables.log]
      .map { "DELETE FROM \($0) WHERE store = \(id)" }
      + ["DELETE FROM \(tables.stores) WHERE name = $1"]
  }
}
