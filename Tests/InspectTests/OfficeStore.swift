import ArborData
import Foundation
import TestSupport

/// A small closed store with every kind of value and relationship.
final class OfficeStore {
  static let born = Date(timeIntervalSince1970: 1_000_000_000.25)
  static let badge = UUID(uuidString: "8F14E45F-CEEA-467F-9575-6C1F8D1B6C5A") ?? UUID()

  let folder: TemporaryFolder
  let model: ManagedObjectModel
  var url: URL { folder.url.appending(path: "Office.arbor") }

  static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("born", .date, .optional)
      }
      EntityDescription("Employee", parent: "Person") {
        AttributeDescription("badge", .uuid, .unique)
        AttributeDescription("age", .integer16, .indexed, .default(18))
        AttributeDescription("salary", .decimal, .optional)
        AttributeDescription("rate", .double, .default(0.5))
        AttributeDescription("isActive", .boolean, .default(true))
        AttributeDescription("photo", .binary, .optional)
        AttributeDescription("page", .uri, .optional)
        RelationshipDescription("office", to: "Office", inverse: "employees")
        RelationshipDescription("projects", to: "Project", inverse: "members", .toMany)
      }
      EntityDescription("Office") {
        AttributeDescription("city", .string)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "office", .toMany, .ordered, deleteRule: .cascade)
      }
      EntityDescription("Project") {
        AttributeDescription("title", .string)
        RelationshipDescription("members", to: "Employee", inverse: "projects", .toMany)
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
