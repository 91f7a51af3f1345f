import ModelSamples
import ArborModel
import Testing

@Suite struct ModelSchemaBuilderTests {
  @Test("Inherited properties come first and keep their slots")
  func inheritedPropertiesComeFirstAndKeepTheirSlots() throws {
    let schema = try SchemaFixture.schema()
    let manager = try schema.required("Manager")
    #expect(
      manager.attributes.map(\.name) == ["name", "photo", "draft", "number", "salary", "bonus"])
    for entity in schema.entities {
      #expect(entity.attributes.map(\.slot) == Array(entity.attributes.indices))
      #expect(entity.relationships.map(\.slot) == Array(entity.relationships.indices))
      for ancestor in entity.lineage.map({ schema.entities[$0] }) {
        #expect(
          ancestor.attributes.map(\.name)
            == entity.attributes.prefix(ancestor.attributes.count).map(\.name))
        #expect(
          ancestor.relationships.map(\.name)
            == entity.relationships.prefix(ancestor.relationships.count).map(\.name))
      }
    }
  }

  @Test("The family of an entity consists of its concrete descendants, including itself")
  func familiesHoldTheConcreteDescendants() throws {
    let schema = try SchemaFixture.schema()
    func family(_ name: String) throws -> [String] {
      try schema.required(name).concreteFamily.map { schema.entities[$0].name }
    }
    #expect(try family("Person") == ["Employee", "Manager"])
    #expect(try family("Employee") == ["Employee", "Manager"])
    #expect(try family("Manager") == ["Manager"])
    #expect(try family("Place") == ["Place"])
    let manager = try schema.required("Manager")
    #expect(manager.lineage.map { schema.entities[$0].name } == ["Manager", "Employee", "Person"])
    #expect(manager.parentIndex == (try schema.required("Employee").index))
    #expect(try schema.required("Person").parentIndex == nil)
  }

  @Test("The storage of a relationship depends on its kind")
  func linksLieWhereTheirKindNeeds() throws {
    let schema = try SchemaFixture.schema()
    func storage(_ entity: String, _ name: String) throws -> RelationshipSchema.Storage {
      try schema.required(entity).relationship(name).storage
    }
    #expect(try storage("Company", "employees") == .derived)
    #expect(try storage("Employee", "projects") == .links)
    #expect(try storage("Project", "members") == .links)
    #expect(try storage("Person", "friends") == .links)
    #expect(try storage("Place", "residents") == .links)
    #expect(try storage("Company", "offices") == .links)
    for name in ["company", "mentor", "home"] {
      guard case .field(let fieldIndex) = try storage("Employee", name) else {
        Issue.record("\(name) has no field")
        continue
      }
      let employee = try schema.required("Employee")
      #expect(employee.layout.fields[fieldIndex].kind == .reference)
    }
  }

  @Test("A relationship without an inverse gets a hidden one")
  func aRelationshipWithoutInverseGetsAHiddenOne() throws {
    let schema = try SchemaFixture.schema()
    let place = try schema.required("Place")
    let hidden = try place.relationship("~Company.offices")
    #expect(hidden.isHidden && hidden.isToMany && hidden.storage == .links)
    #expect(schema.inverse(of: hidden).name == "offices")
    #expect(place.property(named: "~Company.offices") == nil)
    #expect(place.propertyNames == ["residents"])
    // The hidden inverse of a to-one relationship is an index over its field.
    #expect(try schema.required("Person").relationship("~Employee.mentor").storage == .derived)
    #expect(try schema.required("Manager").relationship("~Employee.mentor").isHidden)
  }

  @Test("The layout depends on property numbers, not on the order of declaration")
  func theLayoutDependsOnNumbersAndNotOnTheOrderOfDeclaration() throws {
    let model = try SchemaFixture.model()
    let catalog = SchemaCatalog(numbering: model)
    var reordered = model
    reordered.entities.reverse()
    for index in reordered.entities.indices {
      reordered.entities[index].attributes.reverse()
      reordered.entities[index].relationships.reverse()
    }
    #expect(reordered.fingerprint == model.fingerprint)
    let schema = try ModelSchema(model, catalog: catalog)
    let other = try ModelSchema(reordered, catalog: catalog)
    for entity in schema.entities {
      let same = try other.required(entity.name)
      #expect(same.number == entity.number)
      #expect(same.layout.fields == entity.layout.fields)
      #expect(same.layout.template == entity.layout.template)
      for attribute in entity.attributes {
        let twin = same.attributes.first { $0.name == attribute.name }
        #expect(twin?.field == attribute.field && twin?.fieldIndex == attribute.fieldIndex)
      }
      #expect(Set(same.indexes.map(\.name)) == Set(entity.indexes.map(\.name)))
    }
  }

  @Test("Each field matches its attribute")
  func fieldsAreThoseOfTheirAttributes() throws {
    for entity in try SchemaFixture.schema().entities {
      for attribute in entity.attributes {
        #expect(entity.layout.fields[attribute.fieldIndex] == attribute.field)
        #expect(attribute.field.kind == FieldKind(attribute.description.type))
        #expect(attribute.field.isTransient == attribute.description.isTransient)
      }
      let numbers = entity.layout.fields.map(\.catalogNumber)
      #expect(Set(numbers).count == numbers.count)
    }
  }

  @Test("A relationship is transient if its inverse is")
  func aRelationshipIsAsTransientAsItsInverse() throws {
    let schema = try SchemaFixture.schema(
      of: ManagedObjectModel {
        EntityDescription("A") { RelationshipDescription("b", to: "B", inverse: "a", .transient) }
        EntityDescription("B") { RelationshipDescription("a", to: "A", inverse: "b", .toMany) }
      })
    #expect(try schema.required("B").relationship("a").description.isTransient)
    #expect(try schema.required("A").relationship("b").description.isTransient)
  }

  @Test(
    "An invalid model has no schema",
    arguments: [
      EntityDescription(name: "A", parent: "Nobody"), EntityDescription(name: "A", parent: "A"),
      EntityDescription(
        name: "A", relationships: [RelationshipDescription(name: "r", destination: "Nobody")]),
      EntityDescription(
        name: "A",
        relationships: [RelationshipDescription(name: "r", destination: "A", inverse: "s")]),
    ])
  func aModelThatBreaksTheRulesIsRefused(entity: EntityDescription) {
    let model = ManagedObjectModel(entities: [entity])
    let error = #expect(throws: ArborError.self) { try SchemaFixture.schema(of: model) }
    #expect(error?.code == .invalidModel && error?.entity == "A")
  }

  @Test("Properties and entities without a number are rejected")
  func aPropertyWithoutNumberIsRefused() throws {
    let model = try SchemaFixture.model()
    var catalog = SchemaCatalog(numbering: model)
    catalog.entries["Company"]?.properties["companyName"] = nil
    let property = #expect(throws: ArborError.self) { try ModelSchema(model, catalog: catalog) }
    #expect(property?.message == "Property Company.companyName is missing from the catalog.")
    catalog.entries["Company"] = nil
    let entity = #expect(throws: ArborError.self) { try ModelSchema(model, catalog: catalog) }
    #expect(entity?.message == "Entity Company is missing from the catalog.")
  }
}
