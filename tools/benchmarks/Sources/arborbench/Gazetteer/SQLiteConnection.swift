import CSQLite

/// A connection to an SQLite database, with as little overhead as in C.
final class SQLiteConnection {
  private let handle: OpaquePointer

  /// Opens or creates a database whose commits are durable, like those of a store.
  init(path: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
      throw BenchmarkError("SQLite cannot open \(path)")
    }
    self.handle = handle
    try execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON")
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  func prepare(_ text: String) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure
    }
    return SQLiteStatement(statement, of: self)
  }

  fileprivate var failure: BenchmarkError {
    BenchmarkError("SQLite: " + String(cString: sqlite3_errmsg(handle)))
  }
}

/// A prepared statement with positional parameters and columns.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: SQLiteConnection

  fileprivate init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds parameters, starting at 1. `nil` is null.
  func bind(_ values: any SQLiteBindable...) {
    for (index, value) in values.enumerated() { value.bind(to: handle, Int32(index + 1)) }
  }

  /// Steps to the next row. Returns `false` after the last one and resets the statement.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    default: throw connection.failure
    }
  }

  func run() throws { while try step() {} }

  /// Returns a column of the current row, starting at 0.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func text(_ column: Int32) -> String {
    sqlite3_column_text(handle, column).map { String(cString: $0) } ?? ""
  }
}

/// A value that can be bound to a parameter.
protocol SQLiteBindable {
  func bind(to statement: OpaquePointer, _ index: Int32)
}

extension Int64: SQLiteBindable {
  func bind(to statement: OpaquePointer, _ index: Int32) {
    sqlite3_bind_int64(statement, index, self)
  }
}

extension Double: SQLiteBindable {
  func bind(to statement: OpaquePointer, _ index: Int32) {
    sqlite3_bind_double(statement, index, self)
  }
}

extension String: SQLiteBindable {
  func bind(to statement: OpaquePointer, _ index: Int32) {
    var text = self
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        _ = arbor_bind_text(statement, index, $0.baseAddress, Int32($0.count))
      }
    }
  }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
  func bind(to statement: OpaquePointer, _ index: Int32) {
    if let self { self.bind(to: statement, index) } else { sqlite3_bind_null(statement, index) }
  }
}
