import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Sums of integers that are computed from the keys of an index.
@Suite struct QueryExecutorKeySummariesTests {
  private static let functions: [AggregateExpression.Function] = [.sum, .average, .count]

  private func model(isAscending: Bool) throws -> ManagedObjectModel {
    let index = FetchIndexDescription(
      name: "byArea",
      elements: [.init("area", isAscending: isAscending), .init("isOpen", isAscending: false)])
    return try ManagedObjectModel {
      EntityDescription("Site", fetchIndexes: [index]) {
        AttributeDescription("area", .integer32, .optional)
        AttributeDescription("isOpen", .boolean)
        AttributeDescription("text", .string)
      }
    }
  }

  @Test("Sums, averages and counts from keys agree with the records", arguments: [true, false])
  func areThoseOfTheRecords(isAscending: Bool) throws {
    var random = SeededRandom()
    try TemporaryStore.use(model(isAscending: isAscending), inMemory: true) { store in
      let draft = Draft(store.file)
      let text = String(repeating: "t", count: 300)
      let rows = try (0..<500).map { _ in
        let size =
          Int.random(in: 0..<6, using: &random) == 0
          ? nil : Int64(Int32.random(in: -300...300, using: &random))
        let isOpen = Bool.random(using: &random)
        try draft.insert(
          "Site",
          [
            "area": size.map(PropertyValue.integer) ?? .null, "isOpen": .boolean(isOpen),
            "text": .string(text),
          ])
        return (size: size, isOpen: isOpen)
      }
      try draft.commit()
      for (predicate, holds) in Self.conditions {
        let sizes = rows.filter(holds).compactMap(\.size)
        let found = try values(predicate, store.file)
        #expect(
          found.values == [
            .integer(sizes.reduce(0, +)),
            sizes.isEmpty ? .null : .double(Double(sizes.reduce(0, +)) / Double(sizes.count)),
            .integer(Int64(sizes.count)),
          ], "\(predicate ?? ""), seed \(random.seed)")
        #expect(found.plan.contains("keys only"), "\(found.plan)")
      }
      #expect(try !values("text != \"\"", store.file).plan.contains("keys only"))
    }
  }

  private static let conditions: [(String?, @Sendable ((size: Int64?, isOpen: Bool)) -> Bool)] = [
    (nil, { _ in true }),
    ("area > 20", { ($0.size ?? .min) > 20 }),
    (
      "area BETWEEN {-50, 50} AND isOpen == TRUE",
      { ($0.size.map { abs($0) <= 50 } ?? false) && $0.isOpen }
    ),
    ("area == nil", { $0.size == nil }),
  ]

  private func values(
    _ text: String?, _ file: StoreEngine
  ) throws -> (values: [PropertyValue], plan: String) {
    let entity = try Draft(file).entity("Site")
    let query = StoreQuery(
      entity: entity,
      predicate: try text.map { text in
        let predicate = try FetchPredicate(format: text)
        return (
          bound: try PredicateBinder.bind(predicate, to: entity, in: file.schema),
          arguments: predicate.arguments
        )
      })
    let aggregates = try Self.functions.map {
      try AggregateExpression($0, "area").bind(to: entity, in: file.schema)
    }
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return (
      try snapshot.aggregate(query, aggregates, overlay: nil),
      try snapshot.explain(query, aggregates).description
    )
  }
}
