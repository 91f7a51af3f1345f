import ArborData
import Foundation

/// The typed classes of the workload, written without macros.
final class Company: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Company.self) }
  private static let description = EntityDescription(
    name: "Company", className: "Company",
    attributes: [AttributeDescription(name: "name", type: .string, defaultValue: "")],
    relationships: [
      RelationshipDescription(
        name: "employees", destination: "Employee", inverse: "company", isToMany: true)
    ],
    uniquenessConstraints: [["name"]])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var employees: Set<Employee> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

final class Employee: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Employee.self) }
  private static let description = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription(name: "employeeID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "email", type: .string, defaultValue: ""),
      AttributeDescription(name: "age", type: .integer64, defaultValue: 18, isIndexed: true),
      AttributeDescription(name: "salary", type: .double, defaultValue: 0),
      AttributeDescription(
        name: "hiredAt", type: .date, defaultValue: .date(Date(timeIntervalSince1970: 0)),
        isIndexed: true),
      AttributeDescription(name: "active", type: .boolean, defaultValue: false),
    ],
    relationships: [
      RelationshipDescription(name: "company", destination: "Company", inverse: "employees")
    ],
    uniquenessConstraints: [["employeeID"]])

  var employeeID: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var name: String {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var email: String {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var age: Int {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var salary: Double {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var hiredAt: Date {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var active: Bool {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var companyID: ObjectID? { _toOneID(0) }
}

extension Employee {
  /// A checksum of all fields that is the same in every implementation. Contains the number of the
  /// company, because the rivals don't create an object for it.
  var checksum: UInt64 {
    let name = name
    let email = email
    var sum = objectID.number &+ UInt64(bitPattern: employeeID) &* 3
    sum &+= UInt64(age) &* 5 &+ (active ? 7 : 0)
    sum &+= (companyID?.number ?? 0) &* 11
    sum &+= UInt64(name.utf8.count) &* 13 &+ UInt64(email.utf8.count) &* 17
    sum &+= UInt64(name.utf8.last ?? 0) &* 19 &+ UInt64(email.utf8.first ?? 0) &* 23
    return sum &+ UInt64(salary) &+ UInt64(hiredAt.timeIntervalSince1970)
  }

  /// Sets the properties from a row of the workload.
  func fill(from row: Workload.EmployeeRow, company: Company?) {
    employeeID = row.employeeID
    name = row.name
    email = row.email
    age = row.age
    salary = row.salary
    hiredAt = row.hiredAt
    active = row.active
    self.company = company
  }
}
