import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser
import LMDB

/// `tables`: the databases of a file, by the names that the store's model has for them now.
///
/// A rename in the model moves nothing in the file: the name that a database was born with is told
/// beside the present one.
struct TablesVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "Lists the databases with their sizes.")

  @OptionGroup var target: FileArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let names = try file.environment.databaseNames()
    var tables = try names.map { try RawTable(file.database($0), in: file.environment) }
    let main = try RawTable(file.environment.mainDatabase(), in: file.environment)
    // The unnamed database lists the others; beyond that it is data of its own.
    if main.statistics.entries > names.count { tables.insert(main, at: 0) }
    let present = try file.store.map { try StoreDatabases.presentNames($0.schema) } ?? [:]
    printer.print(
      json: .array(tables.map { Self.json($0, present[$0.name]) }), text: Self.text(tables, present)
    )
  }

  private static func json(_ table: RawTable, _ present: String?) -> JSONValue {
    [
      "name": .string(table.database.name),
      "presentName": .string(present ?? table.database.name),
      "entries": JSONValue(table.statistics.entries),
      "flags": .array(table.flags.map(JSONValue.string)),
      "depth": JSONValue(table.statistics.depth),
      "branchPages": JSONValue(table.statistics.branchPages),
      "leafPages": JSONValue(table.statistics.leafPages),
      "overflowPages": JSONValue(table.statistics.overflowPages),
      "bytes": JSONValue(table.bytes),
    ]
  }

  private static func text(_ tables: [RawTable], _ present: [String: String]) -> String {
    guard !tables.isEmpty else { return "no databases" }
    var text = TextTable(["entries", "pages", "bytes", "depth", "table", "flags"])
    for table in tables {
      let figures = [table.statistics.entries, table.pages, table.bytes, table.statistics.depth]
      let name = present[table.name].map { "\($0), stored as \(table.name)" } ?? table.name
      text.add(figures.map(String.init) + [name, table.flags.joined(separator: " ")])
    }
    return text.text
  }
}

extension JSONValue {
  /// A whole number.
  init(_ number: Int) { self = .number(JSONNumber(Int64(number))) }
}
