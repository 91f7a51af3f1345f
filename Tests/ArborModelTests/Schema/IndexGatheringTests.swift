import ModelSamples
import ArborModel
import Testing

@Suite struct IndexGatheringTests {
  /// Returns each index as `declaring entity/name(columns)`, with `!` for unique ones.
  private func indexes(_ name: String, in schema: ModelSchema) throws -> [String] {
    let entity = try schema.required(name)
    return entity.indexes.map { index in
      let columns = index.columns.map { column in
        let property =
          switch column.source {
          case .attribute(let slot): entity.attributes[slot].name
          case .toOne(let slot): entity.relationships[slot].name
          case .part(let slot, let path):
            ([entity.attributes[slot].name] + path.keys).joined(separator: ".")
          }
        let kind =
          switch column.kind {
          case .plain: ""
          case .folded: "~"
          case .tokens: "#"
          case .elements: "*"
          }
        return (column.isAscending ? "" : "-") + kind + property
      }
      let owner = schema.entities[index.declaringEntity].name
      return "\(owner)/\(index.name)(\(columns.joined(separator: ",")))\(index.isUnique ? "!" : "")"
        + (index.condition.map { "?\($0.text)" } ?? "")
    }
  }

  @Test("Inherited, marked and unique indexes are collected")
  func gathersInheritedMarkedAndUniqueOnes() throws {
    let schema = try SchemaFixture.schema()
    #expect(try indexes("Person", in: schema) == ["Person/name(name)"])
    #expect(
      try indexes("Manager", in: schema) == [
        "Person/name(name)", "Employee/number+company(number,company)!",
      ])
    // The attribute's index option duplicates the index of the uniqueness constraint.
    #expect(try indexes("Company", in: schema) == ["Company/companyName(companyName)!"])
  }

  @Test("Indexes over properties that cannot be indexed are ignored")
  func leavesOutWhatCannotBeKept() throws {
    let element = FetchIndexDescription.Element.init(_:isExpression:isAscending:kind:)
    let entity = EntityDescription(
      name: "A",
      attributes: [
        AttributeDescription(name: "x", type: .string),
        AttributeDescription(name: "t", type: .undefined, isTransient: true, isIndexed: true),
        AttributeDescription(name: "c", type: .composite("C"), isIndexed: true),
      ],
      relationships: [
        RelationshipDescription(name: "many", destination: "A", isToMany: true),
        RelationshipDescription(name: "one", destination: "A"),
        RelationshipDescription(name: "passing", destination: "A", isTransient: true),
      ],
      fetchIndexes: [
        FetchIndexDescription(name: "toOne", elements: [element("one", false, true, .binary)]),
        FetchIndexDescription(name: "back", elements: [element("x", false, false, .rTree)]),
        FetchIndexDescription(name: "alsoBack", elements: [element("x", false, false, .binary)]),
        FetchIndexDescription(name: "many", elements: [element("many", false, true, .binary)]),
        FetchIndexDescription(name: "gone", elements: [element("passing", false, true, .binary)]),
        FetchIndexDescription(name: "path", elements: [element("one.x", false, true, .binary)]),
        FetchIndexDescription(name: "math", elements: [element("x", true, true, .binary)]),
        FetchIndexDescription(name: "tokens", elements: [element("one", false, true, .text)]),
        FetchIndexDescription(name: "empty", elements: []),
      ])
    let schema = try SchemaFixture.schema(
      of: ManagedObjectModel(
        entities: [entity],
        composites: [CompositeDescription(name: "C", attributes: [])]))
    #expect(try indexes("A", in: schema) == ["A/alsoBack(-x)", "A/toOne(one)"])
  }

  @Test("An index whose name is taken by a constraint gets another name")
  func twoIndexesOfOneNameAreToldApart() throws {
    let model = try ManagedObjectModel {
      EntityDescription(
        "A", uniquenessConstraints: [["x"]],
        fetchIndexes: [FetchIndexDescription(name: "x", elements: [.init("y")])]
      ) {
        AttributeDescription("x", .string)
        AttributeDescription("y", .string, .indexed)
      }
    }
    let schema = try SchemaFixture.schema(of: model)
    #expect(try indexes("A", in: schema) == ["A/x(x)!", "A/x'(y)"])
  }

  @Test("Folded, text and partial indexes are collected")
  func gathersFoldedTextAndPartialOnes() throws {
    let model = try ManagedObjectModel {
      EntityDescription("A", isAbstract: true) {
        AttributeDescription("x", .string, .indexed)
        AttributeDescription("n", .integer16)
        FetchIndexDescription("open", on: "x", where: "n == nil")
        FetchIndexDescription("once", on: "x", where: "n > 1", isUnique: true)
        FetchIndexDescription("fold", on: .folded("-x"), "n")
        FetchIndexDescription(text: "x")
        FetchIndexDescription(
          name: "lower", elements: [.init("lowercase:(x)", isExpression: true)])
        FetchIndexDescription(
          name: "math", elements: [.init("abs:(n)", isExpression: true)])
      }
      EntityDescription("B", parent: "A")
    }
    let schema = try SchemaFixture.schema(of: model)
    let expected = [
      "A/once(x)!?n > 1", "A/fold(-~x,n)", "A/lower(~x)", "A/open(x)?n == nil", "A/xWords(#x)",
      "A/x(x)",
    ]
    #expect(try indexes("A", in: schema) == expected)
    #expect(try indexes("B", in: schema) == expected)
    let condition = try #require(schema.required("A").indexes[0].condition)
    #expect(try condition.bound(to: schema.required("B"), in: schema).entity.name == "B")
  }

  @Test("The words of each attribute are indexed separately and shared between full-text indexes")
  func wordsOfSeveralAttributesAreKeptOneByOne() throws {
    let model = try ManagedObjectModel {
      EntityDescription("A") {
        AttributeDescription("x", .string)
        AttributeDescription("y", .string)
        AttributeDescription("z", .string, .transient, .optional)
        FetchIndexDescription(text: "x", "y", name: "all")
        FetchIndexDescription(text: "y", "x", name: "some", where: "x != nil")
        FetchIndexDescription(text: "x", name: "w")
        FetchIndexDescription(text: "y", "z", name: "none")
      }
    }
    let schema = try SchemaFixture.schema(of: model)
    #expect(
      try indexes("A", in: schema) == [
        "A/all.x(#x)", "A/all.y(#y)", "A/some.y(#y)?x != nil", "A/some.x(#x)?x != nil",
      ])
  }
}
