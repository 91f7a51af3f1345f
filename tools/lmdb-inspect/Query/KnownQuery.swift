import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// A query that can be run by name or again: a fetch request of the model, a saved query, or a
/// recent one.
struct KnownQuery {
  let kind: String
  var name = ""
  let query: SavedQuery
  /// The model's request, whose variables need values, or `nil` for a query of the user.
  var request: ModelRequest?

  /// Returns the requests of a store's model, then the saved queries, both sorted by name, then the
  /// recent ones. A file that cannot be used is reported and ignored.
  static func all(of store: StoreEngine) throws -> [KnownQuery] {
    let shelf = QueryShelf(store: store.id)
    let saved = shelf.reporting({ shelf throws(UserFileError) in try shelf.queries() }, else: [:])
    let recent = shelf.reporting({ shelf throws(UserFileError) in try shelf.history() }, else: [])
    return try store.schema.model.fetchRequestTemplates.sorted { $0.name < $1.name }.map {
      let request = try ModelRequest($0, in: store.schema, of: store.id)
      return KnownQuery(kind: "request", name: $0.name, query: request.query(), request: request)
    }
      + saved.sorted { $0.key < $1.key }
      .map { KnownQuery(kind: "saved", name: $0.key, query: $0.value) }
      + recent.map { KnownQuery(kind: "last", query: $0) }
  }

  /// Returns the queries as a table, with control characters escaped.
  static func table(_ queries: some Sequence<KnownQuery>) -> TextTable {
    var table = TextTable(["kind", "name", "query"])
    for each in queries {
      table.add([each.kind, each.name, each.query.arguments].map(TerminalText.escaped))
    }
    return table
  }
}
