import ArborData
import ArborMacros
import Foundation

/// The programs of the README, line for line; ``ReadmeTests`` compares and runs them.
enum ReadmeProgram {
  /// The first program; gives what it prints.
  static func run(in folder: URL) throws -> [String] {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string)
        AttributeDescription("age", .integer64, .indexed, .default(18), .bounds(0...150))
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
    }
    let manager = try DataManager(model: model, at: .file(folder.appending(path: "Staff.arbor")))

    let company =
      try manager.fetchOne("Company", matching: "name == 'Foo Inc.'") ?? manager.insert("Company")
    company["name"] = "Foo Inc."
    for (name, age) in [("Ada", 36), ("Grace", 45), ("Edsger", 28)] {
      let employee = try manager.insert("Employee")
      employee["name"] = name
      employee["age"] = age
      employee["company"] = company
    }
    try manager.commit()

    let young = try manager.fetchAll(
      "Employee", matching: "age < \(40) AND company.name BEGINSWITH[c] 'foo'", sortedBy: "-age")
    for employee in young { print(employee["name"] as String, employee["age"] as Int) }
    return young.map { "\($0["name"] as String) \($0["age"] as Int)" }
  }

  /// The program with typed classes; gives the names it finds.
  static func runTyped() throws -> [String] {
    let store = try PersistentStore(for: [Company.self, Employee.self], at: .inMemory)
    let context = store.makeContext()
    let ada = context.insert(Employee.self)
    ada.name = "Ada"
    ada.company = context.insert(Company.self)
    try context.commit()
    let adults = try context.fetch(
      Employee.self, matching: #Predicate { $0.age >= 18 && $0.company != nil },
      sortedBy: [.descending(\Employee.age)])
    return adults.map { "\($0.name) of \($0.company?.name ?? "nowhere")" }
  }
}

/// The program with macros; its classes are called as those that are written by hand.
enum ReadmeMacros {
  @Entity final class Company: ManagedObject {
    @Attribute(.unique) var companyID: Int64 = 0
    var companyName: String = ""
    @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
  }
  @Entity final class Employee: ManagedObject {
    @Attribute(.indexed) var age: Int = 18
    var name: String = ""
    @Relationship(inverse: "employees") var company: Company?
  }

  static func run(at url: URL) throws -> [String] {
    let manager = try DataManager(for: Company.self, Employee.self, at: .file(url))
    let young = try manager.context.objects(Employee.self)
      .filter("age < \(40)").order(by: "-age", "name").fetch()
    let same = try manager.context.objects(Employee.self)
      .filter(#Predicate { $0.age < 40 }).order(by: "-age", "name").fetch()
    return (young + same).map(\.name)
  }
}

final class Company: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Company", className: "Company",
    attributes: [AttributeDescription(name: "name", type: .string, defaultValue: "")],
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
  var employees: Set<Employee> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }
}

final class Employee: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "age", type: .integer64, defaultValue: 18, isIndexed: true),
    ],
    relationships: [
      RelationshipDescription(name: "company", destination: "Company", inverse: "employees")
    ])

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var age: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var company: Company? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}
