import ModelSamples
import ArborModel
import Testing

@Suite struct EntitySchemaTests {
  @Test("Properties are found by name")
  func findsPropertiesByName() throws {
    let schema = try SchemaFixture.schema()
    let manager = try schema.required("Manager")
    guard case .attribute(let name)? = manager.property(named: "name"),
      case .relationship(let company)? = manager.property(named: "company")
    else {
      Issue.record("A manager has a name and a company.")
      return
    }
    #expect(name.slot == 0 && name.description.isIndexed)
    #expect(company.destination == (try schema.required("Company").index))
    #expect(manager.property(named: "nothing") == nil)
    #expect(
      manager.propertyNames == [
        "name", "photo", "draft", "number", "salary", "bonus", "friends", "home", "company",
        "projects", "mentor",
      ])
  }

  @Test("Entities know their ancestors")
  func knowsWhatItInheritsFrom() throws {
    let schema = try SchemaFixture.schema()
    let (person, manager) = (try schema.required("Person"), try schema.required("Manager"))
    #expect(manager.isKind(of: person) && manager.isKind(of: manager))
    #expect(!person.isKind(of: manager))
    #expect(!manager.isKind(of: try schema.required("Company")))
  }
}
