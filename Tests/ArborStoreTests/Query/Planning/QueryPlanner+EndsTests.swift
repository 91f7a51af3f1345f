import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Minimums and maximums that are read from the ends of indexes.
@Suite struct QueryPlannerEndsTests {
  /// A condition as a predicate and as a closure. A `nil` predicate matches all objects.
  private struct Condition {
    let predicate: FetchPredicate?
    let holds: (PlainObject) -> Bool

    static var none: Condition { Condition(predicate: nil) { _ in true } }

    static func age(_ range: ClosedRange<Int64>) -> Condition {
      Condition(
        predicate: range.count == 1
          ? "age == \(range.lowerBound)"
          : "age >= \(range.lowerBound) AND age <= \(range.upperBound)",
        holds: {
          if case .integer(let age)? = $0.values["age"] { range.contains(age) } else { false }
        })
    }

    static func company(_ company: PlainObject, _ world: QueryWorld) -> Condition {
      let id = world.store.objectID(company.number)
      return Condition(
        predicate: "company == \(id)", holds: { $0.links["company"]?.number == company.number })
    }
  }

  private func query(
    _ entity: EntitySchema, _ condition: Condition, _ world: QueryWorld
  ) throws -> StoreQuery {
    StoreQuery(
      entity: entity,
      predicate: try condition.predicate.map {
        (
          bound: try PredicateBinder.bind($0, to: entity, in: world.store.schema),
          arguments: $0.arguments
        )
      })
  }

  private func explain(
    _ world: QueryWorld, _ name: String, _ condition: Condition, _ aggregates: [AggregateExpression]
  ) throws -> QueryPlan {
    let entity = world.entity(name)
    let snapshot = try world.store.snapshot()
    defer { snapshot.close() }
    return try snapshot.explain(
      query(entity, condition, world),
      aggregates.map { try $0.bind(to: entity, in: world.store.schema) })
  }

  @Test("Minimums and maximums agree with the sorted values")
  func endsHoldTheLeastAndTheGreatestValue() throws {
    var random = SeededRandom()
    var world = try QueryWorld(isIndexed: true)
    try world.fill(300, using: &random)
    let companies = world.objects.filter { $0.entity.name == "Company" }
    for round in 0..<60 {
      let pending = round.isMultiple(of: 2) ? try PendingWorld(world, using: &random) : nil
      let name = ["Person", "Employee", "Manager"].randomElement(using: &random) ?? "Person"
      let entity = world.entity(name)
      let low = Int64.random(in: 15...65, using: &random)
      var conditions = [
        Condition.none, .age(low...low),
        .age(low...(low + Int64.random(in: 1...20, using: &random))),
      ]
      if name != "Person", let company = companies.randomElement(using: &random) {
        conditions.append(.company(company, world))
      }
      for condition in conditions {
        let objects = (pending?.objects ?? world.objects).filter { object in
          object.entity.lineage.contains { world.store.schema.entities[$0].name == name }
            && condition.holds(object)
        }
        for path in ["age", "score", "born", "isActive", "note", "price", "tag", "name"] {
          let values = objects.map { $0.values[path] ?? .null }.filter { !$0.isNull }
            .sorted { PropertyValue.compare($0, $1) == .less }
          let aggregates = [AggregateExpression.minimum(path), .maximum(path)]
          let snapshot = try world.store.snapshot()
          let found = try snapshot.aggregate(
            query(entity, condition, world),
            aggregates.map { try $0.bind(to: entity, in: world.store.schema) },
            overlay: pending?.overlay)
          snapshot.close()
          #expect(
            found == [values.first ?? .null, values.last ?? .null],
            "\(name).\(path) \(condition.predicate.map { "\($0)" } ?? "all"), seed \(random.seed)")
        }
      }
    }
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  @Test("Plans describe which end of an index is read")
  func plansSayWhichEndIsRead() throws {
    var random = SeededRandom()
    var world = try QueryWorld(isIndexed: true)
    try world.fill(300, using: &random)
    let both = try explain(world, "Person", .none, [.minimum("age"), .maximum("score")])
    #expect(
      "\(both)" == """
        aggregate minimum age, maximum score
        ├ index Person.age: first key · about 1 row
        └ index Person.score: last key · about 1 row
        """)
    let range = try explain(world, "Person", .age(30...40), [.maximum("age")])
    #expect(range.access.detail.hasSuffix(", last key") && range.usesIndex)
    // If the columns before have one value each, the next one is ordered as well; here it descends.
    let behind = try explain(world, "Person", .age(30...30), [.minimum("name")])
    #expect(behind.access.name == "Person.byAgeName")
    #expect(behind.access.detail.hasSuffix(", last key"))
    let company = try #require(world.objects.first { $0.entity.name == "Company" })
    let members = try explain(world, "Employee", .company(company, world), [.maximum("age")])
    #expect(members.access.name == "Employee.byCompanyAge")
    #expect(members.access.detail.hasSuffix(", first key"))
    // Everything else has to read every row.
    for aggregates: [AggregateExpression] in [
      [.sum("age")], [.minimum("age"), .average("age")], [.minimum("level")],
      [.minimum("company.name")], [.count, .maximum("age")],
    ] {
      let plan = try explain(world, "Employee", .none, aggregates)
      #expect(plan.root.kind == .aggregate && plan.access.kind == .scan)
    }
    let other = try explain(world, "Person", .age(30...40), [.minimum("score")])
    #expect(!other.access.detail.hasSuffix(" key"))
    world.store.close()
  }
}
