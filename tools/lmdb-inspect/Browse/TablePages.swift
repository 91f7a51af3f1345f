import ArborModel
import ArborObjects
import LMDB

/// The databases in another program's LMDB file.
struct TableListPage: BrowsePage {
  private let file: InspectedFile
  private let tables: [RawTable]

  init(_ file: InspectedFile) throws {
    self.file = file
    let names = try file.environment.databaseNames()
    let main = try RawTable(file.environment.mainDatabase(), in: file.environment)
    // The unnamed database contains the roots of the others; more entries are data of its own.
    let named = try names.map { try RawTable(file.database($0), in: file.environment) }
    tables = (main.statistics.entries > names.count ? [main] : []) + named
  }

  var title: String { "\(file.path) · \(tables.count) \(tables.count == 1 ? "table" : "tables")" }
  var count: Int { tables.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    var table = TextTable(["entries", "table", "flags"])
    for raw in tables[range] {
      table.add([
        String(raw.statistics.entries), TerminalText.escaped(raw.name),
        raw.flags.joined(separator: " "),
      ])
    }
    let lines = table.text.split(separator: "\n").map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func page(at row: Int) throws -> (any BrowsePage)? { TablePage(file, tables[row]) }
  func copy(of row: Int) -> String { tables[row].database.name }
  func reloaded() throws -> any BrowsePage { try TableListPage(file) }
}

/// The entries of a database: keys and values. Only the positions of some keys are kept in memory.
struct TablePage: BrowsePage {
  private let file: InspectedFile
  private let table: RawTable
  private let positions: EntryPositions

  init(_ file: InspectedFile, _ table: RawTable) {
    self.file = file
    self.table = table
    positions = EntryPositions(table.database)
  }

  var title: String {
    "\(table.name) · \(count) \(count == 1 ? "entry" : "entries")"
  }
  var count: Int { table.statistics.entries }

  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String]) {
    var text = TextTable(shift == 0 ? ["key", "value"] : ["value"])
    try positions.forEach(in: range, of: file) { entry in
      let value = table.valueLine(entry.value)
      text.add(shift == 0 ? [table.keyLine(entry.key), value] : [value])
    }
    let lines = text.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func page(at row: Int) throws -> (any BrowsePage)? {
    var page: ValuePage?
    try positions.forEach(in: row..<(row + 1), of: file) { entry in
      page = ValuePage(
        "\(table.name) · \(table.keyLine(entry.key))", .bytes(Array(entry.value)))
    }
    return page
  }

  func copy(of row: Int) throws -> String {
    var text = ""
    try positions.forEach(in: row..<(row + 1), of: file) { entry in
      text = ByteText(entry.value).text ?? ByteText(entry.value).hex()
    }
    return text
  }

  func reloaded() throws -> any BrowsePage {
    TablePage(file, try RawTable(table.database, in: file.environment))
  }
}

/// The positions of the entries of a database. LMDB finds entries by key only, so the keys of some
/// positions are remembered while the entries are passed.
final class EntryPositions {
  private static let distance = 1024

  private struct Mark {
    let key: [UInt8]
    /// The number of values of the key before the position.
    let duplicates: Int
  }

  private let database: Database
  private var marks: [Mark] = []

  init(_ database: Database) { self.database = database }

  /// Calls `body` with each entry of a range of positions, as far as there are any.
  func forEach(
    in range: Range<Int>, of file: InspectedFile, _ body: (Entry) throws -> Void
  ) throws {
    let transaction = try file.environment.beginRead()
    let cursor = try transaction.reader.cursor(database)
    let mark = min(range.lowerBound / Self.distance, marks.count - 1)
    var position = max(0, mark) * Self.distance
    var entry = mark < 0 ? try cursor.first() : try seek(marks[mark], cursor)
    var key: [UInt8] = []
    var duplicates = mark < 0 ? 0 : marks[mark].duplicates
    while position < range.upperBound, let found = entry {
      if !key.isEmpty { duplicates = found.key.elementsEqual(key) ? duplicates + 1 : 0 }
      key = Array(found.key)
      if position == marks.count * Self.distance {
        marks.append(Mark(key: key, duplicates: duplicates))
      }
      if position >= range.lowerBound { try body(found) }
      position += 1
      entry = try cursor.next()
    }
  }

  private func seek(_ mark: Mark, _ cursor: borrowing Cursor) throws -> Entry? {
    var entry = try mark.key.withUnsafeBytes { try cursor.seekExact($0) }
    for _ in 0..<mark.duplicates where entry != nil { entry = try cursor.nextDuplicate() }
    return entry
  }
}
