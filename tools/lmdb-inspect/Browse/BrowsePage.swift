import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// A list shown in the terminal, in which the user selects a row.
protocol BrowsePage {
  var title: String { get }
  /// The total number of rows, of which some are visible.
  var count: Int { get }
  /// Returns a range of rows, and their column names.
  ///
  /// - Parameter shift: The number of columns to omit after the first one.
  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String])
  /// Returns what a row asks for before it opens its page.
  func questions(at row: Int) -> [BrowseQuestion]
  /// Returns the page that a row opens, or `nil` if it opens none.
  ///
  /// - Parameter answers: The answers to the row's questions.
  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)?
  /// Returns the text of a row for the clipboard.
  func copy(of row: Int) throws -> String
  /// The condition and order of the rows, or `nil` if the page cannot be filtered.
  var choice: RowChoice? { get }
  /// Returns the same page with another condition and order.
  func choosing(_ choice: RowChoice) throws -> any BrowsePage
  /// Returns the same page in another form, or `nil` if it has none.
  func shown(as form: ValueForm) throws -> (any BrowsePage)?
  /// Returns the same page with current data.
  func reloaded() throws -> any BrowsePage
}

/// A value that is asked for in the input line.
struct BrowseQuestion {
  let label: String
  /// Throws if a text is not a valid answer.
  let check: (String) throws -> Void
}

/// The condition, order and number of the rows of a page.
struct RowChoice: Equatable {
  /// A predicate; an empty one matches all rows.
  var predicate = ""
  /// Key paths as for `query --sort`; without any, the rows are in the order of the store.
  var sort = ""
  /// The maximum number of rows.
  var limit: Int?
}

extension RowChoice {
  init(_ query: SavedQuery) {
    predicate = query.predicate ?? ""
    sort = query.sort.joined(separator: ",")
    limit = query.limit
  }

  /// Applies this choice to a query.
  func change(_ query: inout SavedQuery) {
    query.predicate = predicate.isEmpty ? nil : predicate
    query.sort = sort.isEmpty ? [] : [sort]
    query.limit = limit
  }

  /// The text after the name of the objects: ` where age > 40 by -age, the first 10`.
  var suffix: String {
    (predicate.isEmpty ? "" : " where \(predicate)") + (sort.isEmpty ? "" : " by \(sort)")
      + (limit.map { ", the first \($0)" } ?? "")
  }
}

extension BrowsePage {
  var choice: RowChoice? { nil }
  func questions(at row: Int) -> [BrowseQuestion] { [] }
  func choosing(_ choice: RowChoice) throws -> any BrowsePage { self }
  func shown(as form: ValueForm) throws -> (any BrowsePage)? { nil }
}

/// A store that is browsed.
struct BrowsedStore {
  let file: InspectedFile
  let engine: StoreEngine
  /// The same store, for sorted fetches.
  let objects: PersistentStore
}

/// The store's entities with their numbers of objects.
struct EntityPage: BrowsePage {
  private let store: BrowsedStore
  private let entities: [(entity: EntitySchema, count: Int)]

  init(_ store: BrowsedStore) throws {
    self.store = store
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    entities = try store.engine.schema.entities.map {
      ($0, try snapshot.count(StoreQuery(entity: $0), overlay: nil))
    }
  }

  var title: String { store.engine.path ?? "store" }
  var count: Int { entities.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    var table = TextTable(["objects", "entity"])
    for (entity, count) in entities[range] {
      table.add([String(count), entity.isAbstract ? "\(entity.name) (abstract)" : entity.name])
    }
    return table.headerAndRows
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    try ObjectListPage(store, .entity(entities[row].entity))
  }

  func copy(of row: Int) -> String { entities[row].entity.name }

  func reloaded() throws -> any BrowsePage { try EntityPage(store) }
}
