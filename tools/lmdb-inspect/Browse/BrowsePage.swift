import ArborModel
import ArborStore

/// A list that the terminal shows, of which a person selects a row.
protocol BrowsePage {
  var title: String { get }
  /// How many rows there are, of which some are on the screen.
  var count: Int { get }
  /// The rows of a range, and the names of their columns.
  ///
  /// - Parameter shift: How many columns to leave out behind the first.
  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String])
  /// The page that a row leads to; nil for none.
  func page(at row: Int) throws -> (any BrowsePage)?
  /// The same page with the rows that a predicate matches, an empty one meaning all; nil where
  /// there is nothing to choose from.
  func filtered(_ predicate: String) throws -> (any BrowsePage)?
  /// The predicate that chose the rows.
  var predicate: String { get }
  /// The same page as of now.
  func reloaded() throws -> any BrowsePage
}

extension BrowsePage {
  var predicate: String { "" }
  func filtered(_ predicate: String) throws -> (any BrowsePage)? { nil }
}

/// The store's entities with the number of their objects.
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
