import Foundation
import Testing

@testable import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresConnectionTests {
  private func open(
    _ server: PostgresServer, _ more: [String: String] = [:]
  ) throws -> PostgresConnection {
    let parameters = ["host": server.folder.path, "dbname": "postgres", "user": "postgres"]
    return try PostgresConnection.open(
      parameters.merging(more) { $1 }, deadline: Deadline(.seconds(20)))
  }

  private func failure(_ body: () throws -> Void) -> PostgresFailure? {
    #expect(throws: PostgresFailure.self) { try body() }
  }

  @Test("A refused connection is reported with its reason")
  func saysWhyNobodyLetsItIn() throws {
    let server = try PostgresServer.shared.get()
    let unknown = failure { _ = try open(server, ["dbname": "nowhere"]) }
    #expect(unknown?.state == "3D000")
    #expect(unknown?.message.hasSuffix("FATAL: database \"nowhere\" does not exist") == true)
    let refused = failure { _ = try open(server, ["host": "127.0.0.1", "port": "1"]) }
    #expect(refused?.message.contains("Connection refused") == true)
    #expect(refused?.state == nil && refused?.isTemporary == true)
    let silent = failure { _ = try open(server, ["host": "/nowhere/at/all"]) }
    #expect(silent?.message.contains("No such file or directory") == true)
  }

  @Test("Either all statements take effect or none")
  func runsAllStatementsOrNone() throws {
    let server = try PostgresServer.shared.get()
    let connection = try open(server)
    let deadline = Deadline(.seconds(20))
    _ = try connection.run(
      [PostgresStatement("CREATE TEMPORARY TABLE t (n bigint PRIMARY KEY)")], deadline: deadline)
    let add = "INSERT INTO t VALUES ($1)"
    let twice = failure {
      _ = try connection.run(
        [PostgresStatement(add, .integer(1)), PostgresStatement(add, .integer(1))],
        deadline: deadline)
    }
    #expect(twice?.state == "23505")
    let count = PostgresStatement("SELECT count(*) FROM t")
    #expect(try connection.run([count], deadline: deadline)[0].integer(0, 0) == 0)
    let wrong = failure {
      _ = try connection.run([PostgresStatement("SELEC 1"), count], deadline: deadline)
    }
    #expect(wrong?.state == "42601")
    _ = try connection.run([PostgresStatement(add, .integer(2))], deadline: deadline)
    #expect(try connection.run([count, count], deadline: deadline)[1].integer(0, 0) == 1)
  }

  @Test("Warnings of the server are reported")
  func tellsOfWarnings() throws {
    let connection = try open(try PostgresServer.shared.get())
    let deadline = Deadline(.seconds(20))
    let warned = failure {
      _ = try connection.run(
        [PostgresStatement("DO $$ BEGIN RAISE WARNING 'doubt'; END $$")], deadline: deadline)
    }
    #expect(warned?.message == "doubt" && warned?.leavesDoubt == true)
    // Notices below the level of a warning are ignored.
    let notice = PostgresStatement("DO $$ BEGIN RAISE NOTICE 'by the way'; END $$")
    _ = try connection.run([notice], deadline: deadline)
  }

  @Test("A server that disconnected is detected")
  func noticesThatTheServerWentAway() throws {
    let server = try PostgresServer.shared.get()
    let connection = try open(server)
    let deadline = Deadline(.seconds(20))
    let me = PostgresStatement("SELECT pg_backend_pid()::bigint")
    let number = try #require(try connection.run([me], deadline: deadline)[0].integer(0, 0))
    #expect(connection.isUsable)
    try server.sql("SELECT pg_terminate_backend(\(number), 10000)::text")
    #expect(!connection.isUsable)
    let failure = failure { _ = try connection.run([me], deadline: deadline) }
    #expect(failure?.leavesDoubt == false, "nothing was sent")
  }

  @Test("A connection that is lost while waiting leaves the outcome unknown")
  func losesItsServerWhileItWaits() throws {
    let connection = try open(try PostgresServer.shared.get())
    let end = PostgresStatement("SELECT pg_terminate_backend(pg_backend_pid())::text")
    let ended = failure { _ = try connection.run([end], deadline: Deadline(.seconds(20))) }
    #expect(ended?.state == "57P01" && ended?.leavesDoubt == true)
    #expect(!connection.isUsable)
    let slow = try open(try PostgresServer.shared.get())
    let start = ContinuousClock.now
    let late = failure {
      _ = try slow.run(
        [PostgresStatement("SELECT pg_sleep(20)::text")], deadline: Deadline(.milliseconds(50)))
    }
    #expect(late?.message == "The server doesn't respond" && late?.leavesDoubt == true)
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(!slow.isUsable)
  }
}
