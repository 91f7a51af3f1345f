import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport

/// A random model of two entities with indexes of every kind, random objects, and the expected
/// contents of the indexes, determined without keys, records or predicates.
struct IndexWorld {
  struct Row: Sendable {
    var entity: String
    var values: [String: PropertyValue]
  }

  /// A condition in the predicate language, and its equivalent in Swift.
  struct Condition: Sendable {
    let text: String
    let holds: @Sendable (Row) -> Bool
  }

  /// An entry of an index.
  struct Entry: Hashable, CustomStringConvertible {
    let values: [PropertyValue]
    let number: UInt64
    var description: String { "\(values) → \(number)" }
  }

  static let properties = ["text", "title", "count", "day"]
  static let conditions: [Condition] = [
    Condition(text: "count > 2") { $0.integer("count").map { $0 > 2 } ?? false },
    Condition(text: "count == nil") { $0.integer("count") == nil },
    Condition(text: "title BEGINSWITH \"a\" OR count == 1") { row in
      row.string("title")?.hasPrefix("a") == true || row.integer("count") == 1
    },
    Condition(text: "abs(count) > 1 OR title TOKENMATCHES \"a\"") { row in
      row.integer("count").map { abs($0) > 1 } == true
        || words(row.string("title") ?? "").contains("a")
    },
    Condition(text: "NOT (text != nil)") { $0.string("text") == nil },
    Condition(text: "title == nil AND count IN {0, 1, 2}") { row in
      row.string("title") == nil && row.integer("count").map { (0...2).contains($0) } == true
    },
  ]

  private(set) var random: SeededRandom
  private(set) var rows: [ObjectNumber: Row] = [:]

  init(_ random: SeededRandom) { self.random = random }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  // MARK: Models

  /// Returns a model of the same entities with random indexes.
  mutating func model() throws -> ManagedObjectModel {
    let mine = (0..<Int.random(in: 1...5, using: &random)).map { index("i\($0)") }
    let heirs = (0..<Int.random(in: 0...2, using: &random)).map { index("h\($0)") }
    let isMarked = chance(30)
    return try ManagedObjectModel {
      EntityDescription("Note", fetchIndexes: mine) {
        AttributeDescription("text", .string, .optional)
        AttributeDescription(
          "title", .string, options: isMarked ? [.optional, .indexed] : [.optional])
        AttributeDescription("count", .integer32, .optional)
        AttributeDescription("day", .date, .optional)
      }
      EntityDescription("Memo", parent: "Note", fetchIndexes: heirs) {
        AttributeDescription("rank", .integer16, .optional)
      }
    }
  }

  private mutating func index(_ name: String) -> FetchIndexDescription {
    let condition = chance(40) ? Self.conditions.randomElement(using: &random)?.text : nil
    if chance(30) {
      return FetchIndexDescription(
        name: name, elements: [.init(chance(50) ? "text" : "title", kind: .text)],
        partialIndexPredicate: condition)
    }
    let columns = Self.properties.shuffled(using: &random)
      .prefix(Int.random(in: 1...3, using: &random))
    return FetchIndexDescription(
      name: name,
      elements: columns.map { column in
        let isText = column == "text" || column == "title"
        return .init(
          column, isAscending: chance(70), kind: isText && chance(50) ? .folded : .binary)
      }, partialIndexPredicate: condition)
  }

  // MARK: Changes

  private mutating func value(_ property: String) -> PropertyValue {
    if chance(20) { return .null }
    switch property {
    case "count": return .integer(Int64.random(in: -1...5, using: &random))
    case "day":
      return .date(Date(timeIntervalSinceReferenceDate: .random(in: -9...9, using: &random)))
    default:
      let words = ["a", "A", "Äpfel", "äpfel", "café", "Café!", "b-c", "b c", "", "x1 X1", "über"]
      return .string(
        (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
          words.randomElement(using: &random)
        }.joined(separator: chance(80) ? " " : ""))
    }
  }

  /// Changes some objects and commits.
  mutating func change(_ store: StoreEngine) throws {
    let draft = Draft(store)
    var touched: Set<ObjectNumber> = []
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      let number = rows.keys.sorted().randomElement(using: &random)
      let properties = Self.properties.filter { _ in Bool.random(using: &random) }
      var values: [String: PropertyValue] = [:]
      for property in properties { values[property] = value(property) }
      if let number, !touched.contains(number), chance(60) {
        touched.insert(number)
        if chance(25) {
          try draft.delete(number)
          rows[number] = nil
        } else {
          try draft.update(number, values)
          rows[number]?.values.merge(values) { _, new in new }
        }
      } else {
        let entity = chance(40) ? "Memo" : "Note"
        let number = try draft.insert(entity, values)
        touched.insert(number)
        rows[number] = Row(entity: entity, values: values)
      }
    }
    try draft.commit()
  }

  // MARK: The oracle

  /// Returns the expected entries of an index, unordered.
  func expected(_ index: IndexStatistics) -> Set<Entry> {
    let condition = Self.conditions.first { $0.text == index.condition }
    var entries: Set<Entry> = []
    for (number, row) in rows where index.entity == "Note" || row.entity == index.entity {
      guard condition?.holds(row) ?? true else { continue }
      if index.columns[0].kind == .text {
        for word in Self.words(row.string(index.columns[0].property) ?? "") {
          entries.insert(Entry(values: [.string(word)], number: number.rawValue))
        }
        continue
      }
      let values = index.columns.map { column -> PropertyValue in
        let value = row.values[column.property] ?? .null
        guard column.kind == .folded, case .string(let text) = value else { return value }
        return .string(Self.folded(text))
      }
      entries.insert(Entry(values: values, number: number.rawValue))
    }
    return entries
  }

  private static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
  }

  private static func words(_ text: String) -> Set<String> {
    Set(folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }

  /// Returns the differences between the indexes of a store and their expected contents.
  func differences(_ store: StoreEngine) throws -> [String] {
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    var differences: [String] = []
    for index in try snapshot.indexes() {
      let name = "\(index.entity).\(index.name)"
      let stored = try Self.entries(snapshot, index)
      let expected = expected(index)
      if stored.count != index.entries || Set(stored).count != stored.count {
        differences.append("\(name) counts \(index.entries), has \(stored.count)")
      }
      for entry in expected.subtracting(stored) { differences.append("\(name) lacks \(entry)") }
      for entry in Set(stored).subtracting(expected) {
        differences.append("\(name) has \(entry)")
      }
    }
    return differences
  }

  /// Returns the decoded entries of an index.
  private static func entries(
    _ snapshot: StoreSnapshot, _ index: IndexStatistics
  ) throws -> [Entry] {
    let store = snapshot.store
    guard let entity = store.schema.entity(named: index.entity),
      let schema = entity.indexes.first(where: { $0.name == index.name }),
      let database = store.databases.index(entity.index, index.name)
    else { throw DraftError(index.name) }
    let columns = entity.keyColumns(of: schema)
    let cursor = try snapshot.reader.cursor(database)
    var entries: [Entry] = []
    while let entry = try cursor.next() {
      let tuple = KeyDecoder.decode(entry.key, columns: columns)
      entries.append(Entry(values: tuple?.values ?? [], number: cursor.number(of: entry)))
    }
    return entries
  }
}

extension IndexWorld.Row {
  func string(_ name: String) -> String? {
    if case .string(let text)? = values[name] { text } else { nil }
  }

  func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = values[name] { number } else { nil }
  }
}

/// Returns the bytes of every index of a store: its name, then its keys and numbers in order.
func indexDump(_ store: StoreEngine) throws -> [String] {
  let snapshot = try store.snapshot()
  defer { snapshot.close() }
  var lines: [String] = []
  for index in store.databases.indexes.sorted(by: { $0.database.name < $1.database.name }) {
    lines.append(index.database.name)
    let cursor = try snapshot.reader.cursor(index.database)
    while let entry = try cursor.next() {
      let key = entry.key.map { String($0, radix: 16) }.joined(separator: " ")
      lines.append("\(key) → \(cursor.number(of: entry))")
    }
  }
  return lines
}
