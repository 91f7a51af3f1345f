import ArborModel
import ModelSamples
import Testing

@Suite struct AggregateTests {
  @Test("Aggregate functions can be named in several notations")
  func functionsHaveManyNames() {
    let names: [(AggregateExpression.Function, [String])] = [
      (.count, ["count", "count:", "@count", "COUNT"]), (.sum, ["sum", "sum:", "@sum"]),
      (.average, ["average", "avg", "@avg", "average:", "mean"]),
      (.minimum, ["minimum", "min", "min:", "@min"]), (.maximum, ["maximum", "max", "@max"]),
      (.median, ["median", "median:"]), (.mode, ["mode", "mode:"]),
      (.standardDeviation, ["stddev", "stddev:", "standardDeviation"]),
    ]
    for (function, spellings) in names {
      for name in spellings {
        #expect(AggregateExpression.Function(named: name) == function, "\(name)")
      }
      #expect(AggregateExpression.Function(named: function.rawValue) == function)
    }
    for name in ["", "total", "summe", "@"] {
      #expect(AggregateExpression.Function(named: name) == nil)
    }
  }

  @Test("A sum or average of values that are not numbers is rejected")
  func whatHasNoSumIsRefused() throws {
    let model = ManagedObjectModel(
      entities: [
        EntityDescription(
          name: "Person",
          attributes: [
            AttributeDescription(name: "name", type: .string, isOptional: true),
            AttributeDescription(name: "age", type: .integer16, isOptional: true),
            AttributeDescription(name: "born", type: .date, isOptional: true),
            AttributeDescription(name: "home", type: .composite("Place"), isOptional: true),
          ],
          relationships: [
            RelationshipDescription(name: "friend", destination: "Person"),
            RelationshipDescription(name: "friends", destination: "Person", isToMany: true),
          ])
      ],
      composites: [
        CompositeDescription(
          name: "Place", attributes: [AttributeDescription(name: "area", type: .double)])
      ])
    let schema = try SchemaFixture.schema(of: model)
    let person = try schema.required("Person")
    func failure(_ aggregate: AggregateExpression) -> ArborError? {
      do {
        _ = try aggregate.bind(to: person, in: schema)
        return nil
      } catch { return error }
    }
    func code(_ aggregate: AggregateExpression) -> ArborError.Code? { failure(aggregate)?.code }
    for aggregate: AggregateExpression in [
      .count, .count("name"), .countDistinct("friend"), .sum("age"), .average("born"),
      .minimum("name"), .maximum("friend.born"), .minimum("entity.name"),
      .count("home"), .sum("home.area"),
      .median("age"), .standardDeviation("age"), .mode("age"), .mode("name"), .mode("born"),
    ] {
      #expect(code(aggregate) == nil, "\(aggregate)")
    }
    for aggregate: AggregateExpression in [
      .sum("name"), .sum("born"), .average("name"), .sum("friend"), .maximum("friend"),
      .minimum("objectID"), .median("name"), .median("born"), .standardDeviation("born"),
      .mode("friend"), .standardDeviation("entity.name"),
    ] {
      #expect(code(aggregate) == .typeMismatch, "\(aggregate)")
    }
    // A path and an expression are rejected with the same message.
    for text in ["home", "(home)"] {
      #expect(
        failure(.sum(text))?.message
          == "sum cannot be computed for Person.\(text), which is a composite. Aggregate a number "
          + "instead.")
    }
    #expect(code(.sum("agee")) == .unknownName)
    #expect(code(.sum("friends.age")) == .invalidArgument)
    #expect(code(AggregateExpression(.sum)) == .invalidArgument)
  }
}
