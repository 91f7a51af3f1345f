import ArborBrowser
import ArborModel
import ArborObjects
import LMDB

/// The databases in another program's LMDB file.
struct TableListPage: BrowsePage {
  private let file: InspectedFile
  private let tables: [RawTable]

  init(_ file: InspectedFile) throws {
    self.file = file
    tables = try RawTable.all(of: file.environment)
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
    return table.headerAndRows
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    TablePage(file, tables[row])
  }
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
    try positions.forEach(in: range, of: file.environment) { entry in
      let value = table.valueLine(entry.value)
      text.add(shift == 0 ? [table.keyLine(entry.key), value] : [value])
    }
    let lines = text.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    var page: ValuePage?
    try positions.forEach(in: row..<(row + 1), of: file.environment) { entry in
      page = ValuePage(
        "\(table.name) · \(table.keyLine(entry.key))", .bytes(Array(entry.value)))
    }
    return page
  }

  func copy(of row: Int) throws -> String {
    var text = ""
    try positions.forEach(in: row..<(row + 1), of: file.environment) { entry in
      text = ByteText(entry.value).text ?? ByteText(entry.value).hex()
    }
    return text
  }

  func reloaded() throws -> any BrowsePage {
    TablePage(file, try RawTable(table.database, in: file.environment))
  }
}
