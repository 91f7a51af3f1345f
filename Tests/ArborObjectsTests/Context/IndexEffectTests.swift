import ArborModel
import ArborObjects
import ArborStore
import TestSupport
import Testing

/// The effect of an index that a store doesn't have. The plan of a store that has it is the oracle.
@Suite struct IndexEffectTests {
  /// Calls `body` with a context of a store that has the given index.
  private func use(
    _ index: FetchIndexDescription?, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Person",
        attributes: [
          AttributeDescription(name: "age", type: .integer16),
          AttributeDescription(name: "name", type: .string),
          AttributeDescription(name: "note", type: .string, isOptional: true),
        ], fetchIndexes: index.map { [$0] } ?? [])
    ])
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      for number in 0..<2000 {
        let person = try context.insert("Person")
        person["age"] = number * 7 % 100
        person["name"] = "name \(number * 13 % 500)"
      }
      try context.commit()
      try body(context)
    }
  }

  @Test(
    "An index gives the order of a request in the same cases as an existing one",
    arguments: [
      (["age"], "age > 90", ["age"], true), (["age", "name"], "age > 90", ["age", "name"], true),
      (["age", "name"], "age > 90", ["name"], false),
      (["age", "name"], "age == 20", ["name"], true),
      (["age", "name"], "age == 20", ["-name"], true),
      (["age", "-name"], "age == 20", ["name"], true),
      (["age", "-name"], "age == 20", ["age", "name"], true),
      (["age", "name"], "age IN {20, 30}", ["age", "name"], true),
      (["age", "name"], "age IN {20, 30}", ["name"], false),
      (["age", "name", "note"], "age IN {20, 30} AND name == 'name 1'", ["note"], false),
      (["age", "-name"], "TRUEPREDICATE", ["age", "-name"], true),
      (["age", "-name"], "TRUEPREDICATE", ["-age", "name"], true),
      (["age", "-name"], "TRUEPREDICATE", ["age", "name"], false),
      (["age"], "age > 90", ["age", "name"], false),
      (["name"], "name BEGINSWITH 'name 4'", ["name"], true),
      (["name", "age"], "name BEGINSWITH 'name 4'", ["name"], false),
      (["age", "name"], "age == 20", ["age"], false),
      (["name", "age"], "name BEGINSWITH 'name 4'", ["age"], false),
    ] as [([String], String, [String], Bool)])
  func orderOfAnIndex(
    columns: [String], predicate: String, order: [String], givesOrder: Bool
  ) throws {
    let index = FetchIndexDescription(
      name: "byColumns", elements: columns.map { .init(stringLiteral: $0) })
    var request = FetchRequest<ManagedObject>(entity: "Person")
    request.predicate = try FetchPredicate(format: predicate)
    request.sortKeys = order.map { SortKey(stringLiteral: $0) }
    request.fetchLimit = 20
    try use(nil) { context in
      let effect = try context.effect(of: index, on: request)
      #expect(effect?.givesOrder ?? false == givesOrder)
    }
    try use(index) { context in
      let plan = try context.explain(request)
      #expect(plan.steps.contains { $0.kind == .sort } != givesOrder, "\(plan)")
    }
  }

  @Test("An index of words or without case doesn't give the natural order")
  func otherColumns() throws {
    var request = FetchRequest<ManagedObject>(entity: "Person")
    request.predicate = "name TOKENMATCHES 'name'"
    request.sortKeys = ["name"]
    try use(nil) { context in
      let words = try context.effect(of: FetchIndexDescription(text: "name"), on: request)
      #expect(words?.givesOrder == false && words?.rows == 2000)
      request.predicate = nil
      let folded = FetchIndexDescription("folded", on: .folded("name"))
      #expect(try context.effect(of: folded, on: request) == nil)
      request.predicate = "name ==[cd] 'NAME 1'"
      let effect = try context.effect(of: folded, on: request)
      #expect(effect?.givesOrder == false && effect?.rows == 4)
      // One of several conditions on a column can fix its value, and both bounds are counted.
      request.predicate = "age > 10 AND age == 20"
      let both = FetchIndexDescription("both", on: "age", "name")
      #expect(try context.effect(of: both, on: request)?.givesOrder == true)
      request.predicate = "age >= 10 AND age < 20"
      request.sortKeys = []
      let ages = try context.effect(of: FetchIndexDescription("ages", on: "age"), on: request)
      #expect(ages?.rows == 200 && ages?.conditions == "age >= 10 AND age < 20")
    }
  }
}
