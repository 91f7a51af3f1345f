internal import CPostgres
internal import Foundation

/// A server's result of one statement.
///
/// The unsafe code is sound because libpq's result is private, immutable, and freed in `deinit`
/// only, and because addresses in it are used within single calls only. Rows and columns are
/// checked here: libpq would report invalid ones to the connection, which may have been freed.
@safe final class PostgresResult {
  static let severity = Int32(UInt8(ascii: "V"))
  static let state = Int32(UInt8(ascii: "C"))
  static let message = Int32(UInt8(ascii: "M"))

  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe PQclear(handle) }

  /// Returns a field of an error or notice.
  static func field(_ code: Int32, of result: OpaquePointer) -> String? {
    let text = unsafe PQresultErrorField(result, code)
    return unsafe text.map { unsafe String(cString: $0) }
  }

  var isSuccess: Bool {
    let status = unsafe PQresultStatus(handle)
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
  }

  var isEndOfPipeline: Bool { unsafe PQresultStatus(handle) == PGRES_PIPELINE_SYNC }

  var state: String? { unsafe Self.field(Self.state, of: handle) }

  var message: String {
    unsafe Self.field(Self.message, of: handle)
      ?? String(cString: PQresultErrorMessage(handle)).replacing("\n", with: " ")
  }

  var count: Int { Int(unsafe PQntuples(handle)) }

  /// The number of rows that the statement inserted, updated or deleted; 0 for one that only reads.
  ///
  /// The server always reports it, so that returning the rows themselves is unnecessary.
  var changedCount: Int { unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  var width: Int { Int(unsafe PQnfields(handle)) }

  /// Returns the bytes of a value in binary format, or `nil` for NULL or a row that doesn't exist.
  func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
    let (row, column) = (Int32(row), Int32(column))
    guard (0..<Int32(count)).contains(row), (0..<Int32(width)).contains(column),
      unsafe PQgetisnull(handle, row, column) == 0,
      let start = unsafe PQgetvalue(handle, row, column)
    else { return nil }
    let length = Int(unsafe PQgetlength(handle, row, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
  }

  /// Returns an integer of up to 64 bits, or `nil` for NULL.
  func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = bytes(row, column), let first = bytes.first, bytes.count <= 8 else {
      return nil
    }
    let sign: Int64 = first >= 0x80 ? -1 : 0
    return bytes.reduce(sign) { $0 << 8 | Int64($1) }
  }

  /// Returns a sequence or another non-negative number, or `nil` for NULL.
  func number(_ row: Int, _ column: Int) -> UInt64? {
    integer(row, column).flatMap(UInt64.init(exactly:))
  }

  func uuid(_ row: Int, _ column: Int) -> UUID? {
    guard let id = bytes(row, column), id.count == 16 else { return nil }
    return UUID(
      uuid: (
        id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7],
        id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]
      ))
  }

  func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }
}
