import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Conditions on columns after the first range, which are evaluated on the keys of the index.
@Suite struct KeyFilterTests {
  private struct Row {
    let a: Int64?
    let b: Double?
    let c: String?
  }

  /// A condition in the predicate language, and its equivalent in Swift.
  private struct Condition {
    let text: String
    let holds: (Row) -> Bool
  }

  private static let indexes = [
    "Plain": ["a", "b"], "Descending": ["-b", "-a"], "Text": ["c", "b", "a"],
    "Between": ["a", "-c", "b"],
  ]

  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      for (name, columns) in Self.indexes.sorted(by: { $0.key < $1.key }) {
        EntityDescription(name, fetchIndexes: [Self.index(columns)]) {
          AttributeDescription("a", .integer32, .optional)
          AttributeDescription("b", .double, .optional)
          AttributeDescription("c", .string, .optional)
        }
      }
    }
  }

  private static func index(_ columns: [String]) -> FetchIndexDescription {
    FetchIndexDescription(
      name: "own",
      elements: columns.map { column in
        .init(String(column.drop { $0 == "-" }), isAscending: !column.hasPrefix("-"))
      })
  }

  private func condition(using random: inout SeededRandom) -> [Condition] {
    let low = Int64.random(in: -9...9, using: &random)
    let high = low + Int64.random(in: 0...6, using: &random)
    let real = Double(low) / 2
    let text = ["", "k", "kk", "\u{1}k"].randomElement(using: &random) ?? ""
    let first = [
      Condition(text: "a >= \(low) AND a <= \(high)") {
        $0.a.map { $0 >= low && $0 <= high } ?? false
      },
      Condition(text: "a > \(low)") { $0.a.map { $0 > low } ?? false },
      Condition(text: "a IN {\(low), \(high)}") { $0.a == low || $0.a == high },
      Condition(text: "a != nil") { $0.a != nil },
    ]
    let second = [
      Condition(text: "b > \(real)") { $0.b.map { $0 > real } ?? false },
      Condition(text: "b >= \(real) AND b < \(real + 2)") {
        $0.b.map { $0 >= real && $0 < real + 2 } ?? false
      },
      Condition(text: "b == nil") { $0.b == nil },
      Condition(text: "b < \(real)") { $0.b.map { $0 < real } ?? false },
    ]
    let third = [
      Condition(text: "c > \"\(text)\"") { $0.c.map { $0 > text } ?? false },
      Condition(text: "c == nil") { $0.c == nil },
      Condition(text: "c BEGINSWITH \"k\"") { $0.c?.hasPrefix("k") ?? false },
    ]
    return [first, second, third].filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
      .compactMap { $0.randomElement(using: &random) }
  }

  @Test("Key filters find the same rows as an evaluation of the values")
  func findsWhatTheRecordsTell() throws {
    var random = SeededRandom()
    try TemporaryStore.use(model(), inMemory: true) { store in
      for name in ["Plain", "Descending", "Text", "Between"] {
        let draft = Draft(store.file)
        var rows: [ObjectNumber: Row] = [:]
        for _ in 0..<600 {
          let row = Row(
            a: Int.random(in: 0..<8, using: &random) == 0
              ? nil : Int64.random(in: -10...10, using: &random),
            b: Int.random(in: 0..<8, using: &random) == 0
              ? nil : Double(Int.random(in: -10...10, using: &random)) / 2,
            c: ["", "k", "kk", "z", "\u{1}k", String(repeating: "k", count: 470), nil]
              .randomElement(using: &random) ?? nil)
          let number = try draft.insert(
            name,
            [
              "a": row.a.map(PropertyValue.integer) ?? .null,
              "b": row.b.map(PropertyValue.double) ?? .null,
              "c": row.c.map(PropertyValue.string) ?? .null,
            ])
          rows[number] = row
        }
        try draft.commit()
        for _ in 0..<60 {
          let conditions = condition(using: &random)
          guard !conditions.isEmpty else { continue }
          let text = conditions.map(\.text).joined(separator: " AND ")
          let expected = rows.filter { row in conditions.allSatisfy { $0.holds(row.value) } }
          let found = try numbers(name, text, store.file)
          #expect(found.list == expected.keys.sorted(), "\(name): \(text), seed \(random.seed)")
          #expect(found.count == expected.count, "\(name): \(text), seed \(random.seed)")
        }
      }
    }
  }

  private func numbers(
    _ name: String, _ text: String, _ file: StoreEngine
  ) throws -> (list: [ObjectNumber], count: Int) {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let query = try query(name, text, file)
    return (
      try snapshot.fetchNumbers(query, overlay: nil), try snapshot.count(query, overlay: nil)
    )
  }

  private func query(_ name: String, _ text: String, _ file: StoreEngine) throws -> StoreQuery {
    let entity = try Draft(file).entity(name)
    let predicate = try FetchPredicate(format: text)
    return StoreQuery(
      entity: entity,
      predicate: (
        bound: try PredicateBinder.bind(predicate, to: entity, in: file.schema),
        arguments: predicate.arguments
      ))
  }

  /// Conditions decided by fixed-width key columns aren't evaluated on records. Columns that may be
  /// truncated don't decide them.
  @Test("Conditions decided by fixed-width key columns aren't evaluated on records")
  func whatKeysTellIsNotAskedAgain() throws {
    try TemporaryStore.use(model(), inMemory: true) { store in
      let draft = Draft(store.file)
      for row in 0..<500 {
        for name in ["Plain", "Text"] {
          try draft.insert(
            name,
            [
              "a": .integer(Int64(row % 100)), "b": .double(Double(row)),
              "c": .string("c\(row % 100)"),
            ])
        }
      }
      try draft.commit()
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let plain = try snapshot.explain(
        query("Plain", "a >= 10 AND a <= 12 AND b > 300", store.file)
      ).description
      #expect(
        plain.hasPrefix("index Plain.own: a >= 10 AND a <= 12, b >= 300.00000000000006"), "\(plain)"
      )
      #expect(plain.hasSuffix("6 rows"), "\(plain)")
      let text = try snapshot.explain(
        query("Text", "c BEGINSWITH 'c1' AND b > 400", store.file)
      ).description
      #expect(text.hasPrefix("filter b > 400"), "\(text)")
      #expect(text.contains("index Text.own") && text.hasSuffix("11 rows"), "\(text)")
    }
  }
}
