import ArborData
import Foundation

// As `lmdb-inspect schema World.xcdatamodeld Employee --swift` writes it.
final class Employee: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Employee" }
  override class var attributeCount: Int { 5 }
  override class var relationshipCount: Int { 2 }
  private static let describedEntity = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription("age", Int16.self, default: 18, .bounds(0...150)),
      AttributeDescription("employeeID", Int64.self, default: 0),
      AttributeDescription("hired", Date?.self),
      AttributeDescription("name", String.self, default: ""),
      AttributeDescription("salary", Double.self, default: 0.0, .bounds(0.0...)),
    ],
    relationships: [
      RelationshipDescription(
        "company", Company?.self, of: Employee.self, inverse: "employees", at: \.employees),
      RelationshipDescription(
        "department", Department?.self, of: Employee.self, inverse: "employees", at: \.employees),
    ],
    fetchIndexes: [
      FetchIndexDescription(name: "byName", elements: [.init("name")]),
      FetchIndexDescription(name: "bySalary", elements: [.init("salary")]),
    ],
    uniquenessConstraints: [["employeeID"]])
  override class var propertyNames: [AnyKeyPath: String] {
    [
      \Employee.age: "age",
      \Employee.employeeID: "employeeID",
      \Employee.hired: "hired",
      \Employee.name: "name",
      \Employee.salary: "salary",
      \Employee.company: "company",
      \Employee.department: "department",
    ]
  }

  var age: Int16 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var employeeID: Int64 {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var hired: Date? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var name: String {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var salary: Double {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var department: Department? {
    get { _toOne(1) }
    set { _setToOne(1, newValue) }
  }
}
