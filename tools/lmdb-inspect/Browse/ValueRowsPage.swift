import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// The rows of a query with columns or groups. A row of an object opens the object.
struct ValueRowsPage: BrowsePage {
  /// The maximum number of rows, which are kept in memory.
  private static let maximumRows = 10_000

  private let store: BrowsedStore
  private let query: SavedQuery
  private let names: [String]
  private let list: [[PropertyValue]]
  /// Whether each row ends with the ID of its object.
  private let hasObjects: Bool
  private let hasMore: Bool

  init(_ store: BrowsedStore, _ query: SavedQuery) throws {
    self.store = store
    self.query = query
    let entity = try store.file.entity(query.entity)
    var request = query.request()
    let plan = try RowPlan(request.description, of: entity, in: store.engine.schema)
    names = plan.names
    hasObjects = plan.grouping == nil && !plan.isDistinct && !request.propertiesToFetch.isEmpty
    if hasObjects {
      var name = "object"
      while names.contains(name) { name += "X" }
      request.propertiesToFetch.append(PropertyPath("SELF AS \(name)"))
    }
    var rows: [[PropertyValue]] = []
    try store.objects.makeContext().forEachRow(request) {
      rows.append($0)
      return rows.count <= Self.maximumRows
    }
    hasMore = rows.count > Self.maximumRows
    list = Array(rows.prefix(Self.maximumRows))
  }

  var title: String {
    let count = "\(list.count) \(list.count == 1 ? "row" : "rows")"
    return "\(query.entity)\(RowChoice(query).suffix) · \(hasMore ? "the first \(count)" : count)"
  }

  var count: Int { list.count }

  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String]) {
    let labels = try ObjectLabels(store.engine)
    defer { labels.close() }
    let columns = names.indices.filter { $0 == 0 || $0 > shift }
    var table = TextTable(columns.map { names[$0] })
    for row in list[range] {
      table.add(columns.map { Self.text(row[$0], labels) })
    }
    return table.headerAndRows
  }

  private static func text(_ value: PropertyValue, _ labels: ObjectLabels) -> String {
    if case .objectID(let id) = value { labels.text(id) } else { ValueText.text(value) }
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    guard hasObjects, case .objectID(let id) = list[row].last else { return nil }
    return try ObjectPage(store, store.engine.objectNumber(id))
  }

  func copy(of row: Int) -> String {
    zip(names, list[row]).map { ValueText.text($1) }.joined(separator: "\t")
  }

  var choice: RowChoice? { RowChoice(query) }

  func choosing(_ choice: RowChoice) throws -> any BrowsePage {
    var query = query
    choice.change(&query)
    let page = try ValueRowsPage(store, query)
    QueryShelf(store: store.engine.id).note(query)
    return page
  }

  func reloaded() throws -> any BrowsePage { try ValueRowsPage(store, query) }
}
