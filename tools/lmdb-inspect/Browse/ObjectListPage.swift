import ArborModel
import ArborStore

/// Objects as rows: those of an entity or the members of a relationship, optionally filtered by a
/// predicate. Only their numbers are kept in memory.
struct ObjectListPage: BrowsePage {
  enum Source {
    case entity(EntitySchema)
    case members(RelationshipSchema, of: ObjectNumber)
  }

  private let store: StoreEngine
  private let source: Source
  private let entity: EntitySchema
  private let numbers: [ObjectNumber]
  let predicate: String

  init(_ store: StoreEngine, _ source: Source, predicate: String) throws {
    self.store = store
    self.source = source
    self.predicate = predicate
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    switch source {
    case .entity(let entity):
      self.entity = entity
      numbers = try Self.matches(entity, predicate, on: snapshot)
    case .members(let relationship, let owner):
      entity = store.schema.entities[relationship.destination]
      let members = try snapshot.members(relationship, of: owner)
      if predicate.isEmpty {
        numbers = members
      } else {
        // Keeps the order of the relationship.
        let matches = Set(try Self.matches(entity, predicate, on: snapshot))
        numbers = members.filter(matches.contains)
      }
    }
  }

  private static func matches(
    _ entity: EntitySchema, _ predicate: String, on snapshot: StoreSnapshot
  ) throws -> [ObjectNumber] {
    let condition = predicate.isEmpty ? nil : try snapshot.store.bind(predicate, to: entity)
    return try snapshot.fetchNumbers(
      StoreQuery(entity: entity, predicate: condition), overlay: nil)
  }

  var title: String {
    let subject =
      switch source {
      case .entity(let entity): entity.name
      case .members(let relationship, let owner):
        "\(DecodedObject.name(owner, in: store.schema)).\(relationship.name)"
      }
    let condition = predicate.isEmpty ? "" : " where \(predicate)"
    return "\(subject)\(condition) · \(numbers.count) \(numbers.count == 1 ? "object" : "objects")"
  }

  var count: Int { numbers.count }

  func rows(_ range: Range<Int>, shift: Int) throws -> (header: String?, rows: [String]) {
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    let slabs = SlabAllocator()
    var rows: [[String]] = [["object"] + columns.dropFirst(shift)]
    for number in numbers[range] {
      let name = DecodedObject.name(number, in: store.schema)
      guard let record = try snapshot.record(number, allocator: slabs),
        let object = DecodedObject(number, record, in: store)
      else {
        rows.append([name, "(deleted)"])
        continue
      }
      var cells: [String: String] = [:]
      for (name, value) in object.attributes { cells[name] = ValueText.text(value) }
      for (name, target) in object.targets { cells[name] = object.text(target) }
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

  func page(at row: Int) throws -> (any BrowsePage)? { try ObjectPage(store, numbers[row]) }

  func filtered(_ predicate: String) throws -> (any BrowsePage)? {
    try ObjectListPage(store, source, predicate: predicate)
  }

  func reloaded() throws -> any BrowsePage {
    try ObjectListPage(store, source, predicate: predicate)
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
