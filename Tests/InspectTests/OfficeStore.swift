import ArborData
import Foundation
import TestSupport

/// A small store of ours with every kind of value and relationship, closed and ready to be read.
final class OfficeStore {
  static let born = Date(timeIntervalSince1970: 1_000_000_000.25)
  static let badge = UUID(uuidString: "8F14E45F-CEEA-467F-9575-6C1F8D1B6C5A") ?? UUID()

  let folder: TemporaryFolder
  let model: ManagedObjectModel
  var url: URL { folder.url.appending(path: "Office.arbor") }

  static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person", isAbstract: true) {
        Attribute("name", .string, .indexed)
        Attribute("born", .date, .optional)
      }
      Entity("Employee", parent: "Person") {
        Attribute("badge", .uuid, .unique)
        Attribute("age", .integer16, .indexed, .default(18))
        Attribute("salary", .decimal, .optional)
        Attribute("rate", .double, .default(0.5))
        Attribute("isActive", .boolean, .default(true))
        Attribute("photo", .binary, .optional)
        Attribute("page", .uri, .optional)
        Relationship("office", to: "Office", inverse: "employees")
        Relationship("projects", to: "Project", inverse: "members", .toMany)
      }
      Entity("Office") {
        Attribute("city", .string)
        Relationship(
          "employees", to: "Employee", inverse: "office", .toMany, .ordered, deleteRule: .cascade)
      }
      Entity("Project") {
        Attribute("title", .string)
        Relationship("members", to: "Employee", inverse: "projects", .toMany)
      }
      FetchRequestTemplate("elders", entity: "Employee", predicate: "age > 40")
    }
  }

  init() throws {
    folder = try TemporaryFolder()
    model = try Self.makeModel()
    let manager = try DataManager(model: model, at: .file(url))
    let office = try manager.insert("Office")
    office["city"] = "Riga"
    let project = try manager.insert("Project")
    project["title"] = "Ångström \"two\""
    for (name, age) in [("Ada", 36), ("Grace", 45), ("Edsger", 41)] {
      let employee = try manager.insert("Employee")
      employee["name"] = name
      employee["age"] = age
      employee["badge"] = name == "Ada" ? Self.badge : UUID()
      employee["office"] = office
    }
    let ada = try manager.fetchOne("Employee", matching: "name == 'Ada'")
    ada?["born"] = Self.born
    ada?["salary"] = Decimal(string: "1234567890123456789.25")
    ada?["photo"] = Data([0xCA, 0xFE, 0x00])
    ada?["page"] = URL(string: "https://example.com/ada")
    ada?["projects"] = [project]
    try manager.commit()
    manager.store.close()
  }
}
