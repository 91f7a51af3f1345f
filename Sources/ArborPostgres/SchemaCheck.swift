internal import ArborModel

/// A check of a log's tables. It creates them if necessary, and verifies that existing ones belong
/// to a log.
struct SchemaCheck {
  let tables: PostgresTables
  let connection: PostgresConnection
  let deadline: Deadline

  /// Creates the tables if they don't exist. Throws if they belong to another program or a later
  /// version of the library. Several programs may run it concurrently.
  func run() throws(PostgresFailure) {
    while true {
      let found = try columns()
      guard found.isEmpty else { return try validate(found) }
      do {
        try create()
      } catch {
        // Another program created them first: the name is taken, or a catalog row exists.
        guard ["42P07", "42P06", "42710", "23505"].contains(error.state) else { throw error }
      }
    }
  }

  private func create() throws(PostgresFailure) {
    let schema = try connection.run(
      [PostgresStatement(Self.schema, .text(tables.schema))], deadline: deadline)
    let texts =
      (schema[0].count == 0 ? ["CREATE SCHEMA \(PostgresTables.quoted(tables.schema))"] : [])
      + tables.creation
    _ = try connection.run(texts.map { PostgresStatement($0) }, deadline: deadline)
  }

  /// Returns the columns and types of the tables with the log's table names.
  private func columns() throws(PostgresFailure) -> [String: [String: String]] {
    let rows = try connection.run(
      [PostgresStatement(Self.columns, .text(tables.schema))], deadline: deadline)[0]
    var columns: [String: [String: String]] = [:]
    for row in 0..<rows.count {
      guard let table = rows.text(row, 0) else { continue }
      columns[table, default: [:]][rows.text(row, 1) ?? ""] = rows.text(row, 2) ?? ""
    }
    return columns
  }

  private func validate(_ found: [String: [String: String]]) throws(PostgresFailure) {
    let meta = "arbor_meta"
    guard found[meta] == PostgresTables.columns[meta] else {
      throw foreign(found.keys.contains(meta) ? meta : found.keys.sorted()[0])
    }
    let versions = try connection.run(
      [PostgresStatement("SELECT max(version) FROM \(tables.meta)")], deadline: deadline)[0]
    guard let version = versions.integer(0, 0), version > 0 else { throw foreign(meta) }
    guard version <= PostgresTables.version else {
      throw PostgresFailure(
        ArborError(
          .formatTooNew,
          "The log tables in the schema \(tables.schema) have format \(version), which requires a "
            + "later version of the library. This version supports formats up to "
            + "\(PostgresTables.version)."))
    }
    for (table, columns) in PostgresTables.columns.sorted(by: { $0.key < $1.key }) {
      guard found[table] == columns else { throw foreign(table) }
    }
  }

  private func foreign(_ table: String) -> PostgresFailure {
    PostgresFailure(
      ArborError(
        .invalidArgument,
        "The table \(tables.schema).\(table) doesn't have the columns of a log; another program "
          + "may have created it. Nothing was changed. Use another database, or set another schema in "
          + "PostgresLog.Options.schema."))
  }

  private static let schema = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1"

  // Uses the catalog itself: the views of the SQL standard omit objects for which the role has no
  // privileges.
  private static let columns = """
    SELECT classes.relname::text, attributes.attname::text,
      format_type(attributes.atttypid, attributes.atttypmod)::text
    FROM pg_catalog.pg_class AS classes
    JOIN pg_catalog.pg_namespace AS spaces ON spaces.oid = classes.relnamespace
    JOIN pg_catalog.pg_attribute AS attributes ON attributes.attrelid = classes.oid
    WHERE spaces.nspname = $1 AND attributes.attnum > 0 AND NOT attributes.attisdropped
      AND classes.relname IN (\(names))
    """

  private static let names = PostgresTables.columns.keys.sorted().map { "'\($0)'" }
    .joined(separator: ", ")
}
