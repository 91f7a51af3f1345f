import ArborData
import ArborMacros
import Foundation

/// The programs of the README, line for line; ``ReadmeTests`` compares and runs them.
enum ReadmeProgram {
  /// Runs the first program; returns the lines that it prints.
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
}

/// The program with typed classes.
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
