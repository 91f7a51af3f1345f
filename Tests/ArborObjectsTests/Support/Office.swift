import ArborModel
import ArborObjects
import Foundation

/// Handwritten typed classes with every kind of relationship.
enum Office {
  static let classes: [ManagedObject.Type] = [
    Person.self, Employee.self, Manager.self, Company.self, Badge.self, Skill.self, Task.self,
  ]
}

class Person: ManagedObject {
  override class var entityDescription: EntityDescription { personDescription }
  private static let personDescription = EntityDescription(
    name: "Person", className: "Person", isAbstract: true,
    attributes: [
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "nick", type: .string, isOptional: true),
    ])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var nick: String? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
}

enum Rank: String, AttributeValue {
  case junior, senior
}

class Employee: Person {
  override class var entityDescription: EntityDescription { employeeDescription }
  private static let employeeDescription = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription(name: "employeeID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "age", type: .integer16, defaultValue: 18, isIndexed: true),
      AttributeDescription(name: "salary", type: .double, isOptional: true),
      AttributeDescription(name: "rank", type: .string, defaultValue: "junior"),
      AttributeDescription(
        name: "mood", type: .string, isOptional: true, isTransient: true),
    ],
    relationships: [
      RelationshipDescription(name: "company", destination: "Company", inverse: "employees"),
      RelationshipDescription(name: "manager", destination: "Manager", inverse: "reports"),
      RelationshipDescription(
        name: "badge", destination: "Badge", inverse: "employee", deleteRule: .cascade),
      RelationshipDescription(
        name: "skills", destination: "Skill", inverse: "holders", isToMany: true),
      RelationshipDescription(
        name: "tasks", destination: "Task", inverse: "assignee", isToMany: true, isOrdered: true,
        deleteRule: .cascade),
      RelationshipDescription(
        name: "friends", destination: "Employee", inverse: "friends", isToMany: true),
      RelationshipDescription(name: "mentor", destination: "Person"),
    ])

  /// The hooks that were called; not a property of the model.
  var calls: [String] = []

  var employeeID: Int64 {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var age: Int {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var salary: Double? {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var rank: Rank {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var mood: String? {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var companyID: ObjectID? { _toOneID(0) }
  var manager: Manager? {
    get { _toOne(1) }
    set { _setToOne(1, newValue) }
  }
  var badge: Badge? {
    get { _toOne(2) }
    set { _setToOne(2, newValue) }
  }
  var skills: Set<Skill> {
    get { _toMany(3) }
    set { _setToMany(3, newValue) }
  }
  var tasks: [Task] {
    get { _orderedToMany(4) }
    set { _setOrderedToMany(4, newValue) }
  }
  var friends: Set<Employee> {
    get { _toMany(5) }
    set { _setToMany(5, newValue) }
  }
  var mentor: Person? {
    get { _toOne(6) }
    set { _setToOne(6, newValue) }
  }
}

final class Manager: Employee {
  override class var entityDescription: EntityDescription { managerDescription }
  private static let managerDescription = EntityDescription(
    name: "Manager", className: "Manager",
    attributes: [AttributeDescription(name: "bonus", type: .decimal, isOptional: true)],
    relationships: [
      RelationshipDescription(
        name: "reports", destination: "Employee", inverse: "manager", isToMany: true)
    ])

  var bonus: Decimal? {
    get { _attribute(7) }
    set { _setAttribute(7, newValue) }
  }
  var reports: Set<Employee> {
    get { _toMany(7) }
    set { _setToMany(7, newValue) }
  }
}

final class Company: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Company", className: "Company",
    attributes: [
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "founded", type: .date, isOptional: true),
    ],
    relationships: [
      RelationshipDescription(
        name: "employees", destination: "Employee", inverse: "company", isToMany: true,
        deleteRule: .cascade)
    ],
    uniquenessConstraints: [["name"]])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var founded: Date? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var employees: Set<Employee> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

final class Badge: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Badge", className: "Badge",
    attributes: [
      AttributeDescription(name: "code", type: .uuid, isOptional: true),
      AttributeDescription(name: "photo", type: .binary, isOptional: true),
      AttributeDescription(name: "page", type: .uri, isOptional: true),
      AttributeDescription(name: "isActive", type: .boolean, defaultValue: true),
      AttributeDescription(name: "weight", type: .float, defaultValue: 1),
    ],
    relationships: [
      RelationshipDescription(name: "employee", destination: "Employee", inverse: "badge")
    ])

  var code: UUID? {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var photo: Data? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var page: URL? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var isActive: Bool {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var weight: Float {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var employee: Employee? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

final class Skill: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Skill", className: "Skill",
    attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
    relationships: [
      RelationshipDescription(
        name: "holders", destination: "Employee", inverse: "skills", isToMany: true,
        deleteRule: .deny)
    ])

  var name: String? {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var holders: Set<Employee> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

final class Task: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Task", className: "Task",
    attributes: [AttributeDescription(name: "title", type: .string, isOptional: true)],
    relationships: [
      RelationshipDescription(name: "assignee", destination: "Employee", inverse: "tasks"),
      RelationshipDescription(name: "watchers", destination: "Person", isToMany: true),
    ])

  var title: String? {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var assignee: Employee? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var watchers: Set<Person> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
  }
}
