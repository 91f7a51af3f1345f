import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// The queries of the model and the user, and the recent ones. Opening a query shows its rows.
struct QueryPage: BrowsePage {
  private let store: BrowsedStore
  private let list: [KnownQuery]

  init(_ store: BrowsedStore) throws {
    self.store = store
    list = try KnownQuery.all(of: store.engine)
  }

  var title: String { "Queries · \(list.count)" }
  var count: Int { list.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    KnownQuery.table(list[range]).headerAndRows
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
