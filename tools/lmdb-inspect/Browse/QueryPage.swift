import ArborModel
import ArborObjects
import ArborStore

/// The queries of the model and the user, and the recent ones. Opening a query shows its objects.
struct QueryPage: BrowsePage {
  private struct Row {
    let kind: String
    var name = ""
    let query: SavedQuery
  }

  private let store: BrowsedStore
  private let list: [Row]

  init(_ store: BrowsedStore) {
    self.store = store
    let shelf = QueryShelf(store: store.engine.id)
    // Omits requests with variables, whose values can only be given with “query --set”.
    let requests = store.engine.schema.model.fetchRequestTemplates.sorted { $0.name < $1.name }
      .filter { $0.predicate.map { FetchPredicate(stringLiteral: $0).variables.isEmpty } ?? true }
    list =
      requests.map {
        Row(
          kind: "request", name: $0.name,
          query: SavedQuery(entity: $0.entity, predicate: $0.predicate))
      }
      + shelf.queries.sorted { $0.key < $1.key }
      .map { Row(kind: "saved", name: $0.key, query: $0.value) }
      + shelf.history.map { Row(kind: "last", query: $0) }
  }

  var title: String { "Queries · \(list.count)" }
  var count: Int { list.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    var table = TextTable(["kind", "name", "query"])
    for row in list[range] {
      table.add([row.kind, row.name, row.query.arguments].map(TerminalText.escaped))
    }
    let lines = table.text.split(separator: "\n").map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func page(at row: Int) throws -> (any BrowsePage)? {
    let query = list[row].query
    return try ObjectListPage(
      store, .entity(store.file.entity(query.entity)),
      RowChoice(
        predicate: query.predicate ?? "", sort: query.sort.joined(separator: ",")))
  }

  func copy(of row: Int) -> String { list[row].query.arguments }
  func reloaded() -> any BrowsePage { QueryPage(store) }
}

/// The keyboard shortcuts.
struct HelpPage: BrowsePage {
  private static let keys = [
    ("↑ ↓, Page Up, Page Down, Home, End", "select a row"),
    ("← →", "scroll the columns or the text"),
    ("Enter", "open an entity, an object, a relationship or a value"),
    ("Escape, Backspace", "go back"),
    ("/", "filter objects by a predicate; an empty one shows all"),
    ("s", "sort objects by key paths such as -age,name"),
    ("o", "open the queries of the model, your saved queries and your recent ones"),
    ("x, j", "show a value as bytes or as JSON, or as text again"),
    ("y", "copy the row to the clipboard, if the terminal permits it"),
    ("r", "read the newest commits, which also happens automatically"),
    ("?", "show this help"),
    ("q, Control-C", "quit"),
  ]

  var title: String { "Keyboard shortcuts" }
  var count: Int { Self.keys.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    let width = Self.keys.map { TextWidth.of($0.0) }.max() ?? 0
    return (nil, Self.keys[range].map { "\(TextWidth.padded($0.0, to: width))  \($0.1)" })
  }

  func page(at row: Int) -> (any BrowsePage)? { nil }
  func copy(of row: Int) -> String { "\(Self.keys[row].0)  \(Self.keys[row].1)" }
  func reloaded() -> any BrowsePage { self }
}
