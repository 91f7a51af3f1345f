/// The tables of logs in one schema of a database.
struct PostgresTables: Sendable {
  /// The format version of the tables created by this library.
  static let version: Int64 = 1
  /// The maximum number of bytes of a snapshot in a row.
  static let partSize = 1 << 20

  let schema: String
  let meta: String
  let stores: String
  let log: String
  let snapshots: String
  let parts: String
  let counters: String

  init(schema: String) {
    self.schema = schema
    let prefix = Self.quoted(schema)
    meta = "\(prefix).arbor_meta"
    stores = "\(prefix).arbor_store"
    log = "\(prefix).arbor_log"
    snapshots = "\(prefix).arbor_snapshot"
    parts = "\(prefix).arbor_snapshot_part"
    counters = "\(prefix).arbor_counter"
  }

  /// The columns of each table and their types, as reported by the server's catalog.
  static let columns: [String: [String: String]] = [
    "arbor_meta": ["version": "integer"], "arbor_store": ["name": "text", "store": "uuid"],
    "arbor_log": [
      "store": "uuid", "seq": "bigint", "last": "bigint", "batch": "uuid", "previous": "bytea",
      "digest": "bytea", "body": "bytea",
    ],
    "arbor_snapshot": [
      "store": "uuid", "id": "uuid", "seq": "bigint", "digest": "bytea", "bytes": "bigint",
      "made": "timestamp with time zone", "complete": "boolean",
    ], "arbor_snapshot_part": ["store": "uuid", "id": "uuid", "part": "integer", "body": "bytea"],
    "arbor_counter": ["store": "uuid", "name": "text", "next": "bigint"],
  ]

  var creation: [String] {
    [
      "CREATE TABLE \(meta) (version int PRIMARY KEY)",
      "CREATE TABLE \(stores) (name text PRIMARY KEY, store uuid NOT NULL UNIQUE)",
      """
      CREATE TABLE \(log) (store uuid NOT NULL, seq bigint NOT NULL, last bigint NOT NULL,
        batch uuid NOT NULL, previous bytea NOT NULL, digest bytea NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (store, seq))
      """,
      """
      CREATE TABLE \(snapshots) (store uuid NOT NULL, id uuid NOT NULL, seq bigint NOT NULL,
        digest bytea NOT NULL, bytes bigint NOT NULL, made timestamptz NOT NULL,
        complete boolean NOT NULL, PRIMARY KEY (store, id))
      """,
      """
      CREATE TABLE \(parts) (store uuid NOT NULL, id uuid NOT NULL, part int NOT NULL,
        body bytea NOT NULL, PRIMARY KEY (store, id, part))
      """,
      """
      CREATE TABLE \(counters) (store uuid NOT NULL, name text NOT NULL, next bigint NOT NULL,
        PRIMARY KEY (store, name))
      """, "INSERT INTO \(meta) (version) VALUES (\(Self.version))",
    ]
  }

  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
}
