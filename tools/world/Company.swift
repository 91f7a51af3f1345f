import ArborData
import Foundation

// As `lmdb-inspect schema World.xcdatamodeld Company --swift` writes it.
final class Company: ManagedObject {
  override class var entityDescription: EntityDescription { describedEntity }
  override class var entityName: String { "Company" }
  override class var attributeCount: Int { 2 }
  override class var relationshipCount: Int { 2 }
  private static let describedEntity = EntityDescription(
    name: "Company", className: "Company",
    attributes: [
      AttributeDescription("companyID", Int64.self, default: 0),
      AttributeDescription("companyName", String.self, default: ""),
    ],
    relationships: [
      RelationshipDescription(
        "departments", Set<Department>.self, of: Company.self, inverse: "company", at: \.company,
        deleteRule: .cascade),
      RelationshipDescription(
        "employees", Set<Employee>.self, of: Company.self, inverse: "company", at: \.company,
        deleteRule: .cascade),
    ],
    fetchIndexes: [
      FetchIndexDescription(name: "byCompanyName", elements: [.init("companyName")])
    ],
    uniquenessConstraints: [["companyID"]])
  override class var propertyNames: [AnyKeyPath: String] {
    [
      \Company.companyID: "companyID",
      \Company.companyName: "companyName",
      \Company.departments: "departments",
      \Company.employees: "employees",
    ]
  }

  var companyID: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var companyName: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var departments: Set<Department> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
  var employees: Set<Employee> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
  }
}
