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
    let entries = try requests(of: store) + saved(shelf)
    printer.print(
      entries.map(\.json), columns: ["kind", "name", "query"],
      table: Self.table(entries), empty: "no queries")
  }

  private struct Entry {
    let kind: String
    var name = ""
    let query: String

    var json: JSONValue {
      [
        "kind": .string(kind), "name": name.isEmpty ? .null : .string(name),
        "query": .string(query),
      ]
    }
  }

  private func requests(of store: StoreEngine) throws -> [Entry] {
    try store.schema.model.fetchRequestTemplates.sorted { $0.name < $1.name }.map {
      let request = try ModelRequest($0, in: store.schema, of: store.id)
      return Entry(kind: "request", name: $0.name, query: request.query().arguments)
    }
  }

  private func saved(_ shelf: QueryShelf) -> [Entry] {
    shelf.reporting({ shelf throws(UserFileError) in try shelf.queries() }, else: [:])
      .sorted { $0.key < $1.key }
      .map { Entry(kind: "saved", name: $0.key, query: $0.value.arguments) }
      + shelf.reporting({ shelf throws(UserFileError) in try shelf.history() }, else: []).map {
        Entry(kind: "last", query: $0.arguments)
      }
  }

  private static func table(_ entries: [Entry]) -> TextTable {
    var table = TextTable(["kind", "name", "query"])
    for entry in entries {
      table.add([entry.kind, entry.name, entry.query].map(TerminalText.escaped))
    }
    return table
  }
}
