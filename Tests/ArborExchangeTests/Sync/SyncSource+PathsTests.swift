import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SyncPathTests {
  struct Departments: SyncSerializer {
    typealias Object = ManagedObject
    let entityName: String? = "Department"
    let identifiers = ["departmentID"]
    let deleteMissing = false
    var mapping: SyncMapping { ["departmentID": .string(["id"])] }
  }

  /// A serializer whose paths are composed of strings at run time.
  struct People: SyncSerializer {
    typealias Object = ManagedObject
    let prefix: [String]
    let entityName: String? = "Employee"
    let identifiers = ["employeeID"]
    let deleteMissing = false
    var mapping: SyncMapping {
      let path = SyncPath(prefix.map { SyncPath($0) })
      return [
        "employeeID": .int([path, "id"]), "name": .string([path, "names", 1]),
        "age": .number([path, SyncPath("age")]), "salary": .double([path, "pay", SyncPath(0)]),
        "weight": .float([path, ["kg"]]),
        "department": .toOne([path, "works", "in"]) { _, _ in Departments() },
      ]
    }
  }

  @Test("Paths of keys can be lists", arguments: [[], ["user"], ["a.b", "c"]])
  func pathsAreLists(prefix: [String]) throws {
    let workshop = try ImportWorkshop()
    var item: JSONValue = [
      "id": 7, "names": ["x", "Ada"], "age": 36, "pay": [1.5], "kg": 60,
      "works": ["in": ["id": "3"]],
    ]
    for name in prefix.reversed() { item = .object([name: item]) }
    let report = try workshop.context.sync(from: [item], using: People(prefix: prefix))
    #expect(report.inserted == 2)
    let person = try #require(try workshop.all("Employee").first)
    #expect(person["employeeID"] == 7 && person["name"] == "Ada" && person["age"] == 36)
    #expect(person["salary"] == 1.5 && person["weight"] == 60.0)
    let department = try #require(try person.object(forKey: "department"))
    #expect(department["departmentID"] == "3")
    try workshop.finish()
  }
}
