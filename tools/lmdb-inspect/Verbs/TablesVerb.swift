import ArborBrowser
import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser
import LMDB

/// `tables`: lists the databases of a file by their current names in the store's model.
///
/// Renaming in the model changes nothing in the file. The stored name is printed in addition to the
/// current one.
struct TablesVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "Lists the databases with their sizes.",
    discussion: """
      If a large database has several values for each key, its pages are estimated, and its name \
      is preceded by “about”.

      Example: lmdb-inspect tables Staff.arbor
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var rows: RowArguments
  @OptionGroup var sizes: SizeArguments

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    var names = try file.environment.databaseNames()
    // The unnamed database contains the roots of the others. Additional entries are data of its
    // own.
    let main = try RawTable(file.environment.mainDatabase(), in: file.environment)
    if main.statistics.entries > names.count { names.insert("", at: 0) }
    let (tables, spaces) = try FileSpace.tables(of: file, names)
    let present = try file.store.map { try StoreDatabases.presentNames($0.schema) } ?? [:]
    let sized = Array(zip(tables, spaces))
    printer.print(
      sized.map { Self.json($0, $1, present[$0.name]) }, columns: Self.columns,
      table: table(sized, present), empty: "no databases")
  }

  private static let columns = [
    "name", "presentName", "entries", "flags", "depth", "branchPages", "leafPages",
    "overflowPages", "bytes", "estimated",
  ]

  private static func json(_ table: RawTable, _ space: TreeSpace, _ present: String?) -> JSONValue {
    [
      "name": .string(table.database.name),
      "presentName": .string(present ?? table.database.name),
      "entries": JSONValue(table.statistics.entries),
      "flags": .array(table.flags.map(JSONValue.string)),
      "depth": JSONValue(table.statistics.depth),
      "branchPages": JSONValue(table.statistics.branchPages),
      "leafPages": JSONValue(table.statistics.leafPages),
      "overflowPages": JSONValue(table.statistics.overflowPages),
      "bytes": JSONValue(space.bytes),
      "estimated": .bool(table.isEstimated(space)),
    ]
  }

  private func table(
    _ tables: [(RawTable, TreeSpace)], _ present: [String: String]
  ) -> TextTable {
    var text = TextTable(["entries", "pages", sizes.title, "depth", "table", "flags"])
    for (table, space) in tables {
      let figures = [
        String(table.statistics.entries), String(space.pages), sizes.text(space.bytes),
        String(table.statistics.depth),
      ]
      let about = table.isEstimated(space) ? "about " : ""
      let name = present[table.name].map { "\($0), stored as \(table.name)" } ?? table.name
      text.add(figures + [about + name, table.flags.joined(separator: " ")])
    }
    return text
  }
}

extension JSONValue {
  /// Creates a JSON integer.
  init(_ number: Int) { self = .number(JSONNumber(Int64(number))) }
}
