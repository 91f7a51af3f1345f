import ArborBrowser
import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser
import LMDB

/// `dump`: prints the objects of an entity, or the entries of a table.
struct DumpVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Prints the objects of an entity or the entries of a table.",
    discussion: """
      With an entity's name, the decoded objects of the entity and its subentities are printed. \
      With a table's name, the keys and values stored in the file are printed. Without a name, an \
      ArborData store prints the objects of all entities, and any other LMDB file prints the \
      entries of all tables.

      With --ndjson, each line is a JSON document. “load” creates the same store from these \
      documents, and seeds can read them. Links between the printed objects are kept. --csv, --tsv \
      and --markdown print the objects of one entity; properties added by subentities are columns, \
      too.

      Example: lmdb-inspect dump Staff.arbor Employee --where "age > 40" --csv -o old.csv
      """)

  @OptionGroup var target: FileArguments

  @Argument(help: "An entity or a table.", completion: StoreCompletion.entities)
  var name: String?

  @Option(name: .customLong("where"), help: "A predicate that the objects must match.")
  var predicate: String?

  @Option(help: "The maximum number of objects or entries to print.")
  var limit: Int?

  @OptionGroup var rows: RowArguments

  @Option(
    help: ArgumentHelp(
      "With --ndjson, replace an attribute's values with made-up ones; equal values stay equal.",
      valueName: "Entity.attribute"))
  var mask: [String] = []

  @Option(
    help: """
      A secret that the made-up values depend on. Without it, anyone who guesses a value can \
      verify the guess.
      """)
  var maskKey = ""

  private var isExport: Bool { rows.form == .ndjson }

  func run() throws {
    let output = try rows.destination(json: target.json)
    guard isExport else { return try inspect(output) }
    try reportAnswer(on: target.path, to: output) { printer in
      try StoreExport(
        path: target.path, entity: name, predicate: predicate, limit: limit, masks: mask,
        maskKey: maskKey
      ).print(to: &printer)
    }
  }

  func validate() throws {
    if isExport, limit != nil, name == nil {
      throw ValidationError("--limit with --ndjson needs the name of an entity.")
    }
    if !isExport, !mask.isEmpty { throw ValidationError("--mask requires --ndjson.") }
    if let limit, limit < 1 { throw ValidationError("--limit must be greater than 0.") }
    if predicate != nil, name == nil {
      throw ValidationError("--where needs the name of the entity whose objects it selects.")
    }
  }

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    if let entities = try entities(of: file) {
      let dump = ObjectDump(store: try file.requireStore(), predicate: predicate, limit: limit)
      if case .delimited = printer.form, entities.count != 1 {
        throw ValidationError("--csv, --tsv and --markdown need the name of an entity.")
      }
      printer.beginList(columns: entities.count == 1 ? dump.columns(of: entities[0]) : [])
      let count = try dump.print(entities, to: &printer)
      printer.endList(summary: count == 1 ? "1 object" : "\(count) objects")
    } else {
      printer.beginList(columns: ["table", "key", "keyText", "value", "valueText"])
      let count = try dumpTables(of: file, to: &printer)
      printer.endList(summary: count == 1 ? "1 entry" : "\(count) entries")
    }
  }

  /// Returns the entities to dump, or `nil` to dump tables.
  private func entities(of file: InspectedFile) throws -> [String]? {
    guard let store = file.store else {
      if predicate != nil { _ = try file.requireStore() }
      return nil
    }
    guard let name else { return store.schema.entities.filter { !$0.isAbstract }.map(\.name) }
    if store.schema.entity(named: name) != nil { return [name] }
    guard predicate == nil else {
      throw InspectError.unknownEntity(name, among: store.schema.entities.map(\.name))
    }
    return nil
  }

  private func dumpTables(of file: InspectedFile, to printer: inout Printer) throws -> Int {
    var left = limit ?? .max
    let names = try name.map { [$0] } ?? [""] + file.environment.databaseNames()
    let tables = Set(try file.environment.databaseNames())
    for name in names where left > 0 {
      let raw = try RawTable(file.database(name, mayBeEntity: true), in: file.environment)
      // The unnamed database contains the roots of the others, which are not data.
      let hidden = name.isEmpty && self.name == nil ? tables : []
      left -= try dump(raw, hiding: hidden, atMost: left, in: file, to: &printer)
    }
    return (limit ?? .max) - left
  }

  private func dump(
    _ raw: RawTable, hiding hidden: Set<String>, atMost limit: Int, in file: InspectedFile,
    to printer: inout Printer
  ) throws -> Int {
    let transaction = try file.environment.beginRead()
    let cursor = try transaction.reader.cursor(raw.database)
    let isNested = printer.form == .json
    var count = 0
    while count < limit, let entry = try cursor.next() {
      if hidden.contains(String(decoding: entry.key, as: UTF8.self)) { continue }
      count += 1
      printer.add(
        json: isNested ? raw.json(entry) : raw.row(entry),
        text: "\(raw.name)  \(raw.keyLine(entry.key))  \(raw.valueLine(entry.value))")
    }
    return count
  }
}
