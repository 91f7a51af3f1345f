import ArborModel
import ArborObjects
import TestSupport
import Testing

/// Partial indexes, compared with scans of a store without indexes.
@Suite struct PartialIndexTests {
  private static let conditions = [
    "name BEGINSWITH 'ab'", "name == 'abc'", "name IN {'abc', 'abd'}", "name > 'ab'",
    "name >= 'ab' AND name < 'ac'", "age > 20", "age BETWEEN {20, 30}", "age == 25",
  ]

  private static let queries = [
    "name == 'abc'", "name == 'ab'", "name == 'a'", "name == 'b'", "name IN {'abc', 'abd'}",
    "name IN {'abc', 'b'}", "name BEGINSWITH 'ab'", "name BEGINSWITH 'abc'", "name BEGINSWITH 'a'",
    "name > 'ab'", "name > 'abc'", "name >= 'ab'", "name < 'ac'", "name > 'ab' AND name < 'abz'",
    "name >= 'ab' AND name < 'ac'", "name == nil", "name != nil", "age > 20", "age >= 20",
    "age > 25", "age < 25", "age BETWEEN {22, 28}", "age BETWEEN {20, 30}", "age BETWEEN {20, 31}",
    "age == 25", "age IN {20, 25}", "age == nil", "name == 'abc' AND age == 25",
  ]

  /// Calls `body` with a store whose index, if any, has the condition.
  private func use(
    _ condition: String?, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Person",
        attributes: [
          AttributeDescription(name: "age", type: .integer16, isOptional: true),
          AttributeDescription(name: "name", type: .string, isOptional: true),
          AttributeDescription(name: "rank", type: .integer16),
        ],
        fetchIndexes: condition.map { [FetchIndexDescription("partial", on: "rank", where: $0)] }
          ?? [])
    ])
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let names = ["a", "ab", "abc", "abd", "abz", "ac", "b", "Ab", nil]
      for number in 0..<600 {
        let person = try context.insert("Person")
        person["name"] = names[number % names.count].map(PropertyValue.string) ?? .null
        // Those of one rank have all ages.
        person["age"] = number % 11 == 10 ? .null : .integer(Int64(20 + number / 50))
        person["rank"] = .integer(Int64(number % 50))
      }
      try context.commit()
      try body(context)
    }
  }

  @Test("A partial index is used only if it has all objects of the query", arguments: conditions)
  func resultsAreThoseOfAScan(condition: String) throws {
    var expected: [[Int64]] = []
    func numbers(_ context: ManagedObjectContext, _ query: String) throws -> [Int64] {
      try context.fetch(request(query)).map { Int64($0.objectID.number) }
    }
    func request(_ query: String) throws -> FetchRequest<ManagedObject> {
      var request = FetchRequest<ManagedObject>(entity: "Person")
      request.predicate = try FetchPredicate(format: "rank == 7 AND \(query)")
      return request
    }
    try use(nil) { context in expected = try Self.queries.map { try numbers(context, $0) } }
    try use(condition) { context in
      for (query, expected) in zip(Self.queries, expected) {
        #expect(try numbers(context, query) == expected, "\(query)")
      }
      // The condition itself always implies the condition.
      let whole = try request(condition)
      #expect(try context.explain(whole).usesIndex)
    }
  }

  @Test(
    "Conditions imply those of a partial index",
    arguments: [
      ("name BEGINSWITH 'ab'", "name == 'abc'", true),
      ("name BEGINSWITH 'ab'", "name IN {'abc', 'abd'}", true),
      ("name BEGINSWITH 'ab'", "name BEGINSWITH 'abc'", true),
      ("name BEGINSWITH 'ab'", "name IN {'abc', 'b'}", false),
      ("name BEGINSWITH 'ab'", "name BEGINSWITH 'a'", false),
      ("name BEGINSWITH 'ab'", "name > 'ab'", false), ("age > 20", "age > 25", true),
      ("age > 20", "age >= 20", false), ("age BETWEEN {20, 30}", "age BETWEEN {22, 28}", true),
      ("age BETWEEN {20, 30}", "age BETWEEN {20, 31}", false), ("age > 20", "age == nil", false),
      ("name != nil", "name BEGINSWITH 'a'", true), ("name != nil", "name == nil", false),
    ])
  func implications(condition: String, query: String, isUsed: Bool) throws {
    try use(condition) { context in
      var request = FetchRequest<ManagedObject>(entity: "Person")
      request.predicate = try FetchPredicate(format: "rank == 7 AND \(query)")
      #expect(try context.explain(request).usesIndex == isUsed)
    }
  }
}
