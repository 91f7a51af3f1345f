import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct SchemaCheckTests {
  private let server: PostgresServer
  private let connection: String
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    connection = try server.makeDatabase()
    database = String(connection.split(separator: " ")[1].dropFirst("dbname=".count))
  }

  private func error(_ options: PostgresLog.Options = .init()) throws -> ArborError? {
    let log = try PostgresLog(connection, options: options)
    return #expect(throws: ArborError.self) { try log.head() }
  }

  private func tables() throws -> [String] {
    try server.sql(
      "SELECT tablename::text FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', "
        + "'information_schema') ORDER BY 1", database: database
    ).compactMap { $0[0] }
  }

  @Test("Several connections can create the tables at once")
  func manyMakeTheTablesAtOnce() throws {
    let connection = connection
    let heads = try inThreads(6) { _ in
      var options = PostgresLog.Options()
      options.schema = "a \"schema\""
      return try PostgresLog(connection, options: options).head()
    }
    #expect(heads.allSatisfy { $0 == nil })
    #expect(
      try tables() == [
        "arbor_counter", "arbor_log", "arbor_meta", "arbor_snapshot", "arbor_snapshot_part",
        "arbor_store",
      ])
    let versions = "SELECT version::text FROM \"a \"\"schema\"\"\".arbor_meta"
    #expect(try server.sql(versions, database: database) == [["1"]])
  }

  @Test("Tables of other programs are detected and left unchanged")
  func leavesOtherProgramsAlone() throws {
    try server.sql("CREATE TABLE arbor_log (line text)", database: database)
    let message = { (table: String) in
      "The table public.\(table) doesn't have the columns of a log; another program may have "
        + "created it. Nothing was changed. Use another database, or set another schema in "
        + "PostgresLog.Options.schema."
    }
    let found = try error()
    #expect(found?.code == .invalidArgument)
    #expect(found?.message == message("arbor_log"))
    #expect(try tables() == ["arbor_log"])
    try server.sql("CREATE TABLE arbor_meta (version text)", database: database)
    #expect(try error()?.message == message("arbor_meta"))
    // A log in another schema is unaffected.
    var options = PostgresLog.Options()
    options.schema = "mine"
    #expect(try PostgresLog(connection, options: options).head() == nil)
  }

  @Test("Tables of a later version are refused")
  func refusesTablesOfALaterVersion() throws {
    #expect(try PostgresLog(connection).head() == nil)
    try server.sql("UPDATE arbor_meta SET version = 2", database: database)
    try server.sql("ALTER TABLE arbor_log ADD COLUMN more text", database: database)
    let found = try error()
    #expect(found?.code == .formatTooNew)
    #expect(
      found?.message
        == "The log tables in the schema public have format 2, which requires a later version of "
        + "the library. This version supports formats up to 1.")
    try server.sql("UPDATE arbor_meta SET version = 1", database: database)
    #expect(try error()?.code == .invalidArgument)
    try server.sql("DELETE FROM arbor_meta", database: database)
    #expect(try error()?.code == .invalidArgument)
  }

  @Test("The error says which permissions are missing")
  func saysWhichRightsAreMissing() throws {
    let role = "r" + database
    try server.sql("CREATE ROLE \(role) LOGIN", database: database)
    let guest = connection.replacing("user=postgres", with: "user=\(role)")
    let refusal = { (what: String, name: String) in
      "The server of the log \(name) rejected a statement: permission denied for \(what) (SQLSTATE "
        + "42501). Grant the role CREATE on the schema public for the first call, and SELECT, "
        + "INSERT, UPDATE and DELETE on the log's tables for all others."
    }
    let log = try PostgresLog(guest)
    let first = #expect(throws: ArborError.self) { try log.head() }
    #expect(first?.code == .logUnavailable)
    #expect(first?.message == refusal("schema public", log.name))
    #expect(try tables() == [])
    #expect(try PostgresLog(connection).head() == nil)
    let second = #expect(throws: ArborError.self) { try log.head() }
    #expect(second?.message == refusal("table arbor_meta", log.name))
    try server.sql(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role)",
      database: database)
    #expect(try log.head() == nil)
  }
}
