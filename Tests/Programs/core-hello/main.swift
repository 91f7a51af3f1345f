// A store on ArborCore: imports and fetches objects in a new file, and prints which features are
// missing.
//
//   core-hello FILE
import ArborCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class Employee: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Employee", className: "Employee",
    attributes: [
      AttributeDescription("name", .string, .unique),
      AttributeDescription("age", .integer64, .indexed),
    ])

  var name: String { self["name"] }
  var age: Int { self["age"] }
}

final class Event: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Event", className: "Event",
    attributes: [
      AttributeDescription(name: "day", type: .date, userInfo: ["DateFormat": "dd.MM.yyyy"])
    ])
}

let url = URL(filePath: CommandLine.arguments[1])
let store = try PersistentStore(for: [Employee.self, Event.self], at: .file(url))
let context = store.makeContext()
let document: JSONValue = [
  ["name": "Ada", "age": 36], ["name": "José", "age": 45], ["name": "Edsger", "age": 28],
]
try context.importObjects(from: .value(document), as: "Employee")
try context.commit()

let found = try context.objects(Employee.self).filter("name BEGINSWITH[cd] 'JOSE' OR age < 30")
  .order(by: "-age").fetch()
for employee in found { print(employee.name, employee.age) }

/// Prints the error of a feature that needs all of Foundation.
func attempt(_ body: () throws -> Void) {
  do {
    try body()
    print("supported")
  } catch {
    guard let error = error as? ArborError else { return print(error) }
    print("\(error.code): \((error.violations.first ?? error).message)")
  }
}
attempt { _ = try context.objects(Employee.self).filter("name MATCHES 'A.a'").fetch() }
attempt { _ = try context.objects(Employee.self).filter("name ==[l] 'Ada'").fetch() }
attempt {
  _ = try context.objects(Event.self).filter("day > date('2024-01-01', 'Europe/Berlin')").fetch()
}
attempt {
  _ = try context.objects(Employee.self).order(by: SortKey("name").localized(.current)).fetch()
}
attempt { try context.importObjects(from: ["day": "01.05.1970"], as: "Event") }
attempt {
  let model = try ManagedObjectModel {
    EntityDescription("Item") { AttributeDescription("code", .string, .pattern("[a-z]+")) }
  }
  _ = try PersistentStore(model: model, at: .inMemory)
}
