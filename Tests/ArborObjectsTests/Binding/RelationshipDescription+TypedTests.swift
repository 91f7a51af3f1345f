import ArborModel
import Testing

import ArborObjects

@Suite struct RelationshipDescriptionTypedTests {
  @Test("The type of a relationship determines its destination, cardinality and order")
  func theTypeSaysHowMany() {
    let descriptions = [
      RelationshipDescription("one", Company?.self),
      RelationshipDescription("many", Set<Employee>.self, deleteRule: .deny),
      RelationshipDescription("line", [Employee].self, .count(1...3), .mandatory),
      RelationshipDescription("view", ToMany<Person>.self, .ordered),
    ]
    #expect(
      descriptions == [
        RelationshipDescription(name: "one", destination: "Company"),
        RelationshipDescription(
          name: "many", destination: "Employee", isToMany: true, deleteRule: .deny),
        RelationshipDescription(
          name: "line", destination: "Employee", isToMany: true, isOrdered: true, minimumCount: 1,
          maximumCount: 3, isOptional: false),
        RelationshipDescription(
          name: "view", destination: "Person", isToMany: true, isOrdered: true),
      ])
  }

  @Test("The inverse of a typed relationship is set")
  func theInverseIsNamed() {
    #expect(
      RelationshipDescription(
        "company", Company?.self, of: Employee.self, inverse: "employees", at: \.employees)
        == RelationshipDescription(
          name: "company", destination: "Company", inverse: "employees"))
  }

  @Test("Classes without declared counts have their properties counted")
  func classesWithoutNumbersAreCounted() {
    #expect(Manager.attributeCount == 8 && Manager.relationshipCount == 8)
    #expect(Person.attributeCount == 2 && Person.relationshipCount == 0)
    #expect(ManagedObject.attributeCount == 0)
  }
}
