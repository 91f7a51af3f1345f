import Foundation
import Testing

@testable import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresStatementTests {
  @Test("Values of every kind are sent to a server and returned unchanged")
  func valuesComeBack() throws {
    let server = try PostgresServer.shared.get()
    let parameters = ["host": server.folder.path, "dbname": "postgres", "user": "postgres"]
    let deadline = Deadline(.seconds(20))
    let connection = try PostgresConnection.open(parameters, deadline: deadline)
    let id = UUID()
    for number in [Int64.min, -1, 0, 1, 4711, .max] {
      let rows = try connection.run(
        [
          PostgresStatement(
            "SELECT $1, $2, $3, $4, NULL", .integer(number), .uuid(id), .text("Ærø 🦊"),
            .bytes([0, 255, 10])),
          PostgresStatement("SELECT ''::bytea, -2::smallint, -3, $1 = ''", .bytes([])),
        ], deadline: deadline)
      #expect(rows[0].count == 1 && rows[0].width == 5)
      #expect(rows[0].integer(0, 0) == number)
      #expect(rows[0].number(0, 0) == UInt64(exactly: number))
      #expect(rows[0].uuid(0, 1) == id)
      #expect(rows[0].text(0, 2) == "Ærø 🦊")
      #expect(rows[0].bytes(0, 3) == [0, 255, 10])
      #expect(rows[0].bytes(0, 4) == nil)
      #expect(rows[0].uuid(0, 3) == nil && rows[0].integer(0, 1) == nil)
      #expect(rows[0].bytes(1, 0) == nil && rows[0].bytes(0, 5) == nil)
      #expect(rows[0].bytes(-1, 0) == nil && rows[0].bytes(0, -1) == nil)
      #expect(rows[1].bytes(0, 0) == [])
      #expect(rows[1].integer(0, 1) == -2 && rows[1].integer(0, 2) == -3)
      #expect(rows[1].bytes(0, 3) == [1], "an empty value is not NULL")
    }
  }
}
