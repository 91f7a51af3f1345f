import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser
import LMDB

/// `count`: counts objects or entries.
struct CountVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Counts the objects of an entity or the entries of a table.",
    discussion: """
      With a predicate, only matching objects are counted. An entity's count includes its \
      subentities. Without a name, each entity is counted separately, or each table if the file \
      isn't an ArborData store.

      Example: lmdb-inspect count Staff.arbor Employee "age > 40"
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var rows: RowArguments

  @Argument(help: "An entity or a table.", completion: StoreCompletion.entities)
  var name: String?

  @Argument(help: "A predicate that the objects must match.")
  var predicate: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    guard let name else { return try printAll(of: file, &printer) }
    let count: Int
    if predicate != nil || file.store?.schema.entity(named: name) != nil {
      count = try countObjects(name, in: file)
    } else {
      count = try RawTable(
        file.database(name, mayBeEntity: true), in: file.environment
      ).statistics.entries
    }
    printer.print(
      [["name": .string(name), "count": JSONValue(count)]], columns: ["name", "count"],
      json: JSONValue(count), text: String(count))
  }

  private func countObjects(_ name: String, in file: InspectedFile) throws -> Int {
    let entity = try file.entity(name)
    let store = try file.openStore()
    defer { store.close() }
    let request = FetchRequest<ManagedObject>(
      entity: entity.name, predicate: predicate.map { FetchPredicate(stringLiteral: $0) })
    return try ProgressLine.showing("counting") { _ in try store.makeContext().count(request) }
  }

  private func printAll(of file: InspectedFile, _ printer: inout Printer) throws {
    if let problem = file.problem { throw problem }
    var counts = JSONObject()
    var table = TextTable([])
    func add(_ name: String, _ count: Int) {
      counts[name] = JSONValue(count)
      table.add([name, String(count)])
    }
    if let store = file.store {
      let snapshot = try store.snapshot()
      defer { snapshot.close() }
      for entity in store.schema.entities where !entity.isAbstract {
        add(
          entity.name,
          try snapshot.count(StoreQuery(entity: entity, includesSubentities: false), overlay: nil))
      }
    } else {
      for name in try file.environment.databaseNames() {
        add(name, try RawTable(file.database(name), in: file.environment).statistics.entries)
      }
    }
    printer.print(
      counts.map { ["name": .string($0.key), "count": $0.value] }, columns: ["name", "count"],
      json: .object(counts), table: table)
  }
}
