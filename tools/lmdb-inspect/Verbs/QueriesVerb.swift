import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// `queries`: lists the named queries of the model and the user, and the recent ones.
struct QueriesVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "queries",
    abstract: "Lists the model's fetch requests, your saved queries and your recent ones.",
    discussion: """
      “query --request” and “query --named” run these queries. Saved queries are kept in \
      $XDG_CONFIG_HOME/lmdb-inspect, by default ~/.config/lmdb-inspect, and the last 100 queries \
      that were run in a terminal or on the page in $XDG_STATE_HOME/lmdb-inspect, by default \
      ~/.local/state/lmdb-inspect. Only you can read these files. Each applies to one store and \
      its copies.

      Example: lmdb-inspect queries Staff.arbor
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var rows: RowArguments

  @Option(help: ArgumentHelp("Remove a saved query.", valueName: "name"))
  var remove: String?

  @Flag(help: "Delete this store's query history.")
  var forget = false

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let store = try file.requireStore()
    let shelf = QueryShelf(store: store.id)
    if let remove { try shelf.remove(remove) }
    if forget { try shelf.forget() }
    let queries = try KnownQuery.all(of: store)
    printer.print(
      queries.map(Self.json), columns: ["kind", "name", "query"],
      table: KnownQuery.table(queries), empty: "no queries")
  }

  private static func json(of query: KnownQuery) -> JSONValue {
    [
      "kind": .string(query.kind), "name": query.name.isEmpty ? .null : .string(query.name),
      "query": .string(query.query.arguments),
    ]
  }
}
