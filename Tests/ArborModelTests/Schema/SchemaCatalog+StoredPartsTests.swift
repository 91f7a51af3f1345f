import ModelSamples
import ArborModel
import Testing

/// Every part with a database has a number and a name that are never reused.
@Suite struct SchemaCatalogStoredPartsTests {
  private func schema(
    _ model: ManagedObjectModel, _ catalog: SchemaCatalog? = nil
  ) throws -> ModelSchema {
    try ModelSchema(model, catalog: catalog ?? SchemaCatalog(numbering: model))
  }

  @Test("Stored names are those of the model")
  func namesAreThoseOfTheModel() throws {
    let schema = try SchemaFixture.schema()
    let entry = try #require(schema.catalog.entries["Person"])
    #expect(entry.storedName == "Person")
    #expect(
      entry.relationships.mapValues(\.storedName) == [
        "friends": "Person/friends", "~Employee.mentor": "Person/~Employee.mentor",
      ])
    #expect(entry.indexes.mapValues(\.storedName) == ["name": "Person/name"])
    for entity in schema.entities {
      for relationship in entity.relationships where relationship.isToMany {
        let owner = schema.entities[relationship.declaringEntity].name
        #expect(schema.storedName(of: relationship) == "\(owner)/\(relationship.name)")
      }
      for index in entity.indexes {
        let owner = schema.entities[index.declaringEntity].name
        #expect(schema.storedName(of: index) == "\(owner)/\(index.name)")
      }
    }
    #expect(try schema.catalog.completed(for: schema.entities) == schema.catalog)
  }

  @Test("The numbering doesn't depend on the order of declarations")
  func theOrderOfTheModelDoesNotMatter() throws {
    let model = try SchemaFixture.model()
    let catalog = SchemaCatalog(numbering: model)
    var other = model
    other.entities.reverse()
    for index in other.entities.indices { other.entities[index].relationships.reverse() }
    #expect(try schema(other, catalog).catalog == schema(model, catalog).catalog)
  }

  @Test("If a stored name is taken, the number is appended")
  func aTakenNameGetsTheNumber() throws {
    let model = ManagedObjectModel(entities: [EntityDescription(name: "A")])
    var catalog = SchemaCatalog(entries: [
      "A": .init(number: 9, layoutNumber: 1, properties: [:]),
      "\u{1}3 A": .init(number: 3, layoutNumber: 1, properties: [:]),
    ])
    #expect(try schema(model, catalog).catalog.entries["A"]?.storedName == "A")
    catalog.entries["\u{1}3 A"]?.storedName = "A"
    #expect(try schema(model, catalog).catalog.entries["A"]?.storedName == "A#9")
  }

  @Test("A stored name that would be too long is the number")
  func aNameThatIsTooLongIsTheNumber() throws {
    let name = String(repeating: "n", count: 200)
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: name, relationships: [RelationshipDescription(name: name, destination: name)])
    ])
    let parts = try schema(model).catalog.entries[name]?.relationships
    #expect(parts?.values.map(\.storedName) == ["#1"])
  }

  @Test("The number of a removed index is not reused")
  func whatGoesLeavesItsNumber() throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "A", attributes: [AttributeDescription(name: "n", type: .string)],
        fetchIndexes: [
          FetchIndexDescription(name: "one", elements: [.init("n")]),
          FetchIndexDescription(name: "two", elements: [.init("n", isAscending: false)]),
        ])
    ])
    let former = try schema(model).catalog
    var catalog = SchemaCatalog(numbering: model)
    catalog.carry([.init("A", "new"): .init("A", "two")], \.indexes, from: former)
    catalog.retire(\.indexes, of: former)
    let indexes = ["new": "A/two", "\u{1}1 one": "A/one"]
    #expect(catalog.entries["A"]?.indexes.mapValues(\.storedName) == indexes)
    #expect(catalog.entries["A"]?.indexes["new"]?.number == 2)
    let completed = try schema(model, catalog).catalog
    #expect(completed.entries["A"]?.indexes["one"]?.number == 3)
    #expect(completed.entries["A"]?.indexes["one"]?.storedName == "A/one#3")
    let freed = catalog.withoutRetiredDatabases
    #expect(freed.entries["A"]?.indexes["\u{1}1 one"]?.storedName == "")
    #expect(freed.entries["A"]?.indexes["new"]?.storedName == "A/two")
  }
}
