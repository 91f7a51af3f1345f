import CLibPQ
import Foundation

/// The rival of a log in PostgreSQL: rows of the same bytes, inserted by libpq alone.
final class PlainInserts {
  private let connection: OpaquePointer

  init(_ string: String) throws {
    guard let connection = PQconnectdb(string), PQstatus(connection) == CONNECTION_OK else {
      throw BenchmarkError("no connection")
    }
    self.connection = connection
  }

  deinit { PQfinish(connection) }

  func run(_ text: String) throws {
    let result = PQexec(connection, text)
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COMMAND_OK else {
      throw BenchmarkError(String(cString: PQerrorMessage(connection)))
    }
  }

  /// Creates a table like that of a log.
  func makeTable() throws {
    try run("DROP TABLE IF EXISTS plain")
    try run(
      "CREATE TABLE plain (store uuid NOT NULL, seq bigint NOT NULL, last bigint NOT NULL, "
        + "batch uuid NOT NULL, previous bytea NOT NULL, digest bytea NOT NULL, "
        + "body bytea NOT NULL, PRIMARY KEY (store, seq))")
  }

  /// Prepares the statement of ``insert(_:_:_:)``.
  func prepare() throws {
    let result = PQprepare(
      connection, "insert", "INSERT INTO plain VALUES ($1, $2, $2, $1, $3, $3, $4)", 4,
      [2950, 20, 17, 17])
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COMMAND_OK else {
      throw BenchmarkError(String(cString: PQerrorMessage(connection)))
    }
  }

  /// Inserts a row in a separate transaction.
  func insert(_ store: UUID, _ sequence: UInt64, _ body: [UInt8]) throws {
    let bytes =
      withUnsafeBytes(of: store.uuid) { Array($0) }
      + withUnsafeBytes(of: sequence.bigEndian) { Array($0) } + [UInt8](repeating: 7, count: 16)
      + body
    let status = bytes.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let result = PQexecPrepared(
        connection, "insert", 4, [0, 16, 24, 40].map { offset in start.map { $0 + offset } },
        [16, 8, 16, Int32(body.count)], [1, 1, 1, 1], 1)
      defer { PQclear(result) }
      return PQresultStatus(result)
    }
    guard status == PGRES_COMMAND_OK else {
      throw BenchmarkError(String(cString: PQerrorMessage(connection)))
    }
  }
}
