import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// The queries of the model and the user, and the recent ones. Opening a query shows its rows.
struct QueryPage: BrowsePage {
  private struct Row {
    let kind: String
    var name = ""
    let query: SavedQuery
    /// The model's request, whose variables are asked for.
    var request: ModelRequest?
  }

  private let store: BrowsedStore
  private let list: [Row]

  init(_ store: BrowsedStore) throws {
    self.store = store
    let (schema, id) = (store.engine.schema, store.engine.id)
    let shelf = QueryShelf(store: id)
    let saved = shelf.reporting({ shelf throws(UserFileError) in try shelf.queries() }, else: [:])
    let last = shelf.reporting({ shelf throws(UserFileError) in try shelf.history() }, else: [])
    list =
      try schema.model.fetchRequestTemplates.sorted { $0.name < $1.name }.map { template in
        let request = try ModelRequest(template, in: schema, of: id)
        return Row(
          kind: "request", name: template.name, query: request.query(), request: request)
      }
      + saved.sorted { $0.key < $1.key }.map { Row(kind: "saved", name: $0.key, query: $0.value) }
      + last.map { Row(kind: "last", query: $0) }
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

  func questions(at row: Int) -> [BrowseQuestion] {
    guard let request = list[row].request else { return [] }
    return request.variables.map { variable in
      BrowseQuestion(label: "$\(variable), \(request.type(of: variable).name): ") {
        _ = try request.value($0, of: variable)
      }
    }
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    guard let request = list[row].request else { return try page(of: list[row].query) }
    var values: [String: PropertyValue] = [:]
    for (variable, text) in zip(request.variables, answers) {
      values[variable] = try request.value(text, of: variable)
    }
    return try page(of: request.query(values))
  }

  private func page(of query: SavedQuery) throws -> any BrowsePage {
    let entity = try store.file.entity(query.entity)
    if query.isForRows { return try ValueRowsPage(store, query) }
    return try ObjectListPage(store, .entity(entity), RowChoice(query))
  }

  func copy(of row: Int) -> String { list[row].query.arguments }
  func reloaded() throws -> any BrowsePage { try QueryPage(store) }
}
