import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// Objects as rows: those of an entity or the members of a relationship, optionally filtered by a
/// predicate. Only their numbers are kept in memory.
struct ObjectListPage: BrowsePage {
  enum Source {
    case entity(EntitySchema)
    case members(RelationshipSchema, of: ObjectNumber)
  }

  private let store: BrowsedStore
  private let source: Source
  private let entity: EntitySchema
  private let numbers: [ObjectNumber]
  let choice: RowChoice?

  init(_ store: BrowsedStore, _ source: Source, _ choice: RowChoice = RowChoice()) throws {
    self.store = store
    self.source = source
    self.choice = choice
    switch source {
    case .entity(let entity):
      self.entity = entity
      numbers = try Self.matches(entity, choice, in: store)
    case .members(let relationship, let owner):
      entity = store.engine.schema.entities[relationship.destination]
      let snapshot = try store.engine.snapshot()
      defer { snapshot.close() }
      let members = try snapshot.members(relationship, of: owner)
      if choice == RowChoice() {
        numbers = members
      } else {
        let matches = try Self.matches(entity, choice, in: store)
        // Without a sort order, members are in the order of the relationship.
        let (ordered, kept) = choice.sort.isEmpty ? (members, matches) : (matches, members)
        numbers = ordered.filter(Set(kept).contains)
      }
    }
  }

  private static func matches(
    _ entity: EntitySchema, _ choice: RowChoice, in store: BrowsedStore
  ) throws -> [ObjectNumber] {
    let request = query(entity, choice).request()
    return try store.objects.makeContext().fetchIDs(request)
      .map { try store.engine.objectNumber($0) }
  }

  private static func query(_ entity: EntitySchema, _ choice: RowChoice) -> SavedQuery {
    var query = SavedQuery(entity: entity.name)
    choice.change(&query)
    return query
  }

  var title: String {
    let subject =
      switch source {
      case .entity(let entity): entity.name
      case .members(let relationship, let owner):
        "\(DecodedObject.name(owner, in: store.engine.schema)).\(relationship.name)"
      }
    let count = "\(numbers.count) \(numbers.count == 1 ? "object" : "objects")"
    return "\(subject)\(choice?.suffix ?? "") · \(count)"
  }

  var count: Int { numbers.count }

  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String]) {
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    let labels = try ObjectLabels(store.engine)
    defer { labels.close() }
    let slabs = SlabAllocator()
    var rows: [[String]] = [["object"] + columns.dropFirst(shift)]
    for number in numbers[range] {
      let name = DecodedObject.name(number, in: store.engine.schema)
      guard let record = try snapshot.record(number, allocator: slabs),
        let object = DecodedObject(number, record, in: store.engine)
      else {
        rows.append([name, "(deleted)"])
        continue
      }
      var cells: [String: String] = [:]
      for (name, value) in object.attributes { cells[name] = ValueText.text(value) }
      for (name, target) in object.targets { cells[name] = target.map(labels.text) ?? "nil" }
      rows.append([name] + columns.dropFirst(shift).map { cells[$0] ?? "" })
    }
    let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
      rows.map { column < $0.count ? TextWidth.of($0[column]) : 0 }.max() ?? 0
    }
    let lines = rows.map { row in
      zip(row, widths).map { TextWidth.padded($0, to: $1) }.joined(separator: "  ")
    }
    return (lines.first, Array(lines.dropFirst()))
  }

  /// The properties shown in a row.
  private var columns: [String] {
    entity.attributes.filter { !$0.description.isTransient }.map(\.name)
      + entity.relationships.filter { !$0.isToMany && !$0.isHidden }.map(\.name)
  }

  func page(at row: Int, answers: [String]) throws -> (any BrowsePage)? {
    try ObjectPage(store, numbers[row])
  }

  func copy(of row: Int) -> String {
    DecodedObject.name(numbers[row], in: store.engine.schema)
  }

  func choosing(_ choice: RowChoice) throws -> any BrowsePage {
    let page = try ObjectListPage(store, source, choice)
    if case .entity(let entity) = source, choice != RowChoice() {
      QueryShelf(store: store.engine.id).note(Self.query(entity, choice))
    }
    return page
  }

  func reloaded() throws -> any BrowsePage {
    try ObjectListPage(store, source, choice ?? RowChoice())
  }
}

extension StoreEngine {
  /// Returns a predicate bound to an entity.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` with the column and the nearest name.
  func bind(
    _ predicate: String, to entity: EntitySchema
  ) throws -> (bound: BoundPredicate, arguments: [PropertyValue]) {
    let parsed = FetchPredicate(stringLiteral: predicate)
    return (try PredicateBinder.bind(parsed, to: entity, in: schema), parsed.arguments)
  }
}
