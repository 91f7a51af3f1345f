import ArborData
import Foundation

// As `lmdb-inspect schema World.xcdatamodeld Department --swift` writes it.
final class Department: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Department" }
  override class var attributeCount: Int { 1 }
  override class var relationshipCount: Int { 2 }
  private static let describedEntity = EntityDescription(
    name: "Department", className: "Department",
    attributes: [
      AttributeDescription("name", String.self, default: "")
    ],
    relationships: [
      RelationshipDescription(
        "company", Company?.self, of: Department.self, inverse: "departments", at: \.departments),
      RelationshipDescription(
        "employees", Set<Employee>.self, of: Department.self, inverse: "department",
        at: \.department),
    ])
  override class var propertyNames: [AnyKeyPath: String] {
    [\Department.name: "name", \Department.company: "company", \Department.employees: "employees"]
  }

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var employees: Set<Employee> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
  }
}
