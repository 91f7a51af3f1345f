import ArborModel
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
  /// Returns the page that a row opens, or `nil` if it opens none.
  func page(at row: Int) throws -> (any BrowsePage)?
  /// Returns the same page restricted to the rows that match a predicate; an empty one matches all.
  /// Returns `nil` if the page cannot be filtered.
  func filtered(_ predicate: String) throws -> (any BrowsePage)?
  /// The current predicate.
  var predicate: String { get }
  /// Returns the same page with current data.
  func reloaded() throws -> any BrowsePage
}

extension BrowsePage {
  var predicate: String { "" }
  func filtered(_ predicate: String) throws -> (any BrowsePage)? { nil }
}

/// The store's entities with their numbers of objects.
struct EntityPage: BrowsePage {
  private let store: StoreEngine
  private let entities: [(entity: EntitySchema, count: Int)]

  init(_ store: StoreEngine) throws {
    self.store = store
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    entities = try store.schema.entities.map {
      ($0, try snapshot.count(StoreQuery(entity: $0), overlay: nil))
    }
  }

  var title: String { store.path ?? "store" }
  var count: Int { entities.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    var table = TextTable(["objects", "entity"])
    for (entity, count) in entities[range] {
      table.add([String(count), entity.isAbstract ? "\(entity.name) (abstract)" : entity.name])
    }
    let lines = table.text.split(separator: "\n").map(String.init)
    return (lines.first, Array(lines.dropFirst()))
  }

  func page(at row: Int) throws -> (any BrowsePage)? {
    try ObjectListPage(store, .entity(entities[row].entity), predicate: "")
  }

  func reloaded() throws -> any BrowsePage { try EntityPage(store) }
}
