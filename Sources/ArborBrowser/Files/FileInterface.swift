internal import ArborJSON
internal import ArborLocks
internal import ArborModel
internal import ArborObjects
internal import ArborStore
internal import Foundation
internal import LMDB

/// The requests that the page can send about an LMDB file of another program, each with its own
/// path. Nothing can be changed.
final class FileInterface: Sendable {
  private static let largestPage = 500
  /// The maximum number of characters of a key or value in a table.
  private static let maximumLength = 240

  private let environment: Environment
  private let path: String
  private let limits: HTTPLimits
  /// The positions of each table's entries as of a transaction.
  private let positions = Lock<[String: (transaction: UInt64, marks: EntryPositions)]>([:])

  init(_ environment: Environment, path: String, limits: HTTPLimits) {
    self.environment = environment
    self.path = path
    self.limits = limits
  }

  func response(to request: HTTPRequest) -> HTTPResponse {
    do {
      guard request.path.hasPrefix(RequestGate.guarded) else {
        return try PageFiles.answer(request)
      }
      return try answer(request)
    } catch let error as HTTPRequest.Refusal {
      return .refusal(error.status, error.reason)
    } catch {
      let failure = (error as? LMDBError).map { StoreError($0, path: path) } ?? error
      guard let error = ToolWording.publicError(failure) as? ArborError else {
        return .refusal(.failed, "The request failed. Check the file.")
      }
      return .json(
        ["error": BrowserInterface.json(of: error)], status: BrowserInterface.status(of: error))
    }
  }

  private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
    let name = request.path.dropFirst(RequestGate.guarded.count)
    guard environment.isInPlace else { throw ReplacedFile.error(isStore: false) }
    switch (request.method, name) {
    case ("GET", "schema"): return .json(try schema())
    case ("GET", "news"): return .json(["sequence": try newest()])
    case ("GET", "entries"): return .json(try entries(request))
    case ("GET", "entry"): return .json(try entry(request))
    case ("GET", "value"): return try value(request)
    case ("GET", "find"): return .json(try find(request))
    case (_, "schema"), (_, "news"), (_, "entries"), (_, "entry"), (_, "value"), (_, "find"):
      throw HTTPRequest.Refusal(
        status: .methodNotAllowed, reason: "\(name) doesn't support \(request.method).")
    default: throw HTTPRequest.Refusal(status: .notFound, reason: "Not found.")
    }
  }

  // MARK: Responses

  private func newest() throws -> JSONValue {
    JSONValue(Int(clamping: try environment.lastTransactionID))
  }

  private func schema() throws -> JSONValue {
    let tables = try RawTable.all(of: environment)
    return [
      "kind": "file", "name": .string(URL(filePath: path).lastPathComponent),
      "canWrite": false, "sequence": try newest(),
      "tables": .array(
        tables.map { table in
          [
            "name": .string(table.database.name), "title": .string(table.name),
            "entries": JSONValue(table.statistics.entries),
            "bytes": JSONValue(table.statistics.bytes), "depth": JSONValue(table.statistics.depth),
            "flags": .array(table.flags.map(JSONValue.string)),
          ]
        }),
    ]
  }

  /// Returns a page of entries, each with its position, key, value and length. Parameters: `table`,
  /// `offset` and `limit`.
  private func entries(_ request: HTTPRequest) throws -> JSONValue {
    let table = try table(of: request)
    let first = number("offset", of: request) ?? 0
    let count = min(number("limit", of: request) ?? 100, Self.largestPage)
    var rows: [JSONValue] = []
    try forEach(in: first..<(first + count), of: table) { entry in
      rows.append([
        JSONValue(first + rows.count), cell(table.number(inKey: entry.key), entry.key),
        cell(table.number(inValue: entry.value), entry.value), JSONValue(entry.value.count),
      ])
    }
    return ["rows": .array(rows), "next": .null]
  }

  /// Returns the key of an entry, and the length of its value. Parameters: `table` and `position`.
  private func entry(_ request: HTTPRequest) throws -> JSONValue {
    let table = try table(of: request)
    var answer: JSONValue?
    try forEach(in: position(of: request), of: table) { entry in
      let kind = BinaryKind(Data(entry.value.prefix(4096)))
      answer = [
        "key": table.keyJSON(entry.key),
        "value": cell(table.number(inValue: entry.value), entry.value),
        "length": JSONValue(entry.value.count), "kind": .string(kind.rawValue),
      ]
    }
    guard let answer else { throw Self.gone }
    return answer
  }

  /// Returns the value of an entry as a download. Parameters: `table` and `position`.
  private func value(_ request: HTTPRequest) throws -> HTTPResponse {
    var bytes: [UInt8]?
    try forEach(in: position(of: request), of: table(of: request)) { entry in
      guard entry.value.count <= limits.binary else {
        throw ArborError(
          .limitExceeded,
          "The value has \(entry.value.count) bytes, but the page shows at most \(limits.binary).")
      }
      bytes = Array(entry.value)
    }
    guard let bytes else { throw Self.gone }
    return HTTPResponse(
      contentType: "application/octet-stream",
      headers: [("Content-Disposition", "attachment; filename=\"value.bin\"")], body: bytes)
  }

  /// Returns the position of the first entry whose key is not less than a given one. Parameters:
  /// `table` and `key`, as text, `0x…`, or a number for integer keys.
  private func find(_ request: HTTPRequest) throws -> JSONValue {
    let table = try table(of: request)
    let text = request.parameter("key") ?? ""
    return try environment.read { transaction in
      let cursor = try transaction.reader.cursor(table.database)
      guard let key = try table.key(text, in: transaction) else {
        throw ArborError(
          .invalidArgument,
          "Enter a key as text, as hex such as 0x6170, or as a number for integer keys.")
      }
      guard let found = try key.withUnsafeBytes({ try cursor.seek($0) }) else {
        return ["position": .null]
      }
      let wanted = Array(found.key)
      let deadline = ContinuousClock.now + limits.workTime
      var position = 0
      var entry = try cursor.first()
      while let now = entry, !now.key.elementsEqual(wanted) {
        position += 1
        if position.isMultiple(of: 10_000), ContinuousClock.now > deadline {
          throw ArborError(
            .deadlineExceeded,
            "The table is too large to find the position within the time limit.")
        }
        entry = try cursor.next()
      }
      return ["position": JSONValue(position)]
    }
  }

  // MARK: Entries

  private static let gone = ArborError(
    .objectNotFound, "The entry no longer exists. Refresh the table.")

  private func table(of request: HTTPRequest) throws -> RawTable {
    let name = request.parameter("table") ?? ""
    let database =
      name.isEmpty ? try environment.mainDatabase() : try environment.openDatabase(name)
    guard let database else {
      throw ArborError(
        .unknownName,
        "There is no table \(name)." + NearestName.hint(name, in: try environment.databaseNames()))
    }
    return try RawTable(database, in: environment)
  }

  private func number(_ name: String, of request: HTTPRequest) -> Int? {
    request.parameter(name).flatMap(Int.init).flatMap { (0..<1 << 48).contains($0) ? $0 : nil }
  }

  private func position(of request: HTTPRequest) -> Range<Int> {
    let position = number("position", of: request) ?? 0
    return position..<(position + 1)
  }

  /// Calls `body` with the entries at some positions. Positions found in the same state of the file
  /// are remembered.
  private func forEach(
    in range: Range<Int>, of table: RawTable, _ body: (Entry) throws -> Void
  ) throws {
    let transaction = try environment.lastTransactionID
    let marks = positions.withLock { known in
      if let found = known[table.database.name], found.transaction == transaction {
        return found.marks
      }
      let marks = EntryPositions(table.database)
      known[table.database.name] = (transaction, marks)
      return marks
    }
    try marks.forEach(in: range, of: environment, body)
  }

  /// Returns bytes as a number, or as truncated text or hex.
  private func cell(_ number: UInt64?, _ bytes: UnsafeRawBufferPointer) -> JSONValue {
    if let number { return ["number": .string(String(number))] }
    // Only the beginning of a long value is examined.
    let most = 4 * Self.maximumLength
    let isShort = bytes.count <= most
    let head = ByteText(Array(bytes.prefix(most)))
    if isShort, let text = head.text {
      if text.count <= Self.maximumLength { return .string(text) }
      return [
        "text": .string(String(text.prefix(Self.maximumLength))), "length": JSONValue(text.count),
      ]
    }
    if bytes.isEmpty { return .string("") }
    if !isShort, BinaryKind(Data(bytes.prefix(most))) == .text {
      let text = String(decoding: bytes.prefix(Self.maximumLength), as: UTF8.self)
      return ["text": .string(text), "length": JSONValue(bytes.count)]
    }
    return ["hex": .string(head.hex(limit: 32) + (isShort ? "" : "…"))]
  }
}
