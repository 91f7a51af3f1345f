import ArborModel
import Foundation

/// The model files that tests read.
enum ModelFixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures")

  static func url(_ name: String) -> URL { folder.appending(path: name) }

  /// Runs a test with an empty folder that is gone afterwards.
  static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "model-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// Makes a version folder with a text for contents.
  static func write(_ contents: String, to version: URL) throws {
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: version.appending(path: "contents"))
  }

  /// The error that reading a model throws.
  static func error(reading url: URL) -> ArborError? {
    do throws(ArborError) {
      _ = try ModelDocument(contentsOf: url)
      return nil
    } catch {
      return error
    }
  }

  /// What the current version of `Corporate.xcdatamodeld` says.
  static func corporate() throws -> ManagedObjectModel {
    let day = Date(timeIntervalSinceReferenceDate: 86_400)
    var model = try ManagedObjectModel(versionIdentifier: "2") {
      company
      Entity(
        "Employee", parent: "Person", className: "Corporate.Employee",
        uniquenessConstraints: [["name", "company"]],
        fetchIndexes: [
          FetchIndexDescription(
            name: "byAgeAndSalary",
            elements: [.init("age"), .init("salary", isAscending: false)])
        ], versionHashModifier: "two"
      ) {
        Attribute(
          "age", .integer16, .bounds(0...150), .default(18), .userInfo(["mappedKeyName": "years"]))
        Attribute("badge", .uuid, .optional)
        Attribute(
          "hired", .date, .optional, .default(.date(day)),
          .bounds(
            Date(
              timeIntervalSinceReferenceDate: 0)...Date(
                timeIntervalSinceReferenceDate: 946_684_800)))
        Attribute("isActive", .boolean, .default(true))
        Attribute("preferences", .transformable("NSSecureUnarchiveFromData"), .optional)
        Attribute("rating", .float, .optional, .default(0.5))
        Attribute(
          "salary", .double, .default(0), .preservedOnDeletion, .versionHashModifier("cents"))
        Attribute("share", .decimal, .optional, .default(12.5))
        Attribute("totals", .undefined, .optional, .transient)
        Relationship("company", to: "Company", inverse: "employees")
        Relationship("manager", to: "Employee", inverse: "reports", deleteRule: .deny)
        Relationship(
          "reports", to: "Employee", inverse: "manager", .toMany, .ordered, deleteRule: .noAction)
      }
      Entity("Person", isAbstract: true, renamedFrom: "Human") {
        Attribute(
          "name", .string, .bounds(1...80), .pattern("\\S.*"), .renamed(from: "fullName"))
      }
      FetchRequestTemplate(
        "companyWellPaidEmployees", entity: "Employee",
        predicate: "company == $company AND salary > 60000")
      Configuration("Cloud", entities: ["Company", "Employee"])
      Composite("Address") {
        Attribute("city", .string, .optional)
        Attribute("street", .string, .optional)
      }
    }
    model.fetchRequestTemplates.append(
      FetchTemplate(
        name: "someNames", entity: "Person", fetchLimit: 10, fetchBatchSize: 5,
        includesSubentities: false, includesPendingChanges: true, returnsDistinctResults: true,
        resultType: .rows))
    model.entities[1].attributes[4].valueClassName = "[String]"
    return model
  }

  private static var company: Entity {
    Entity(
      "Company", className: "Company", userInfo: ["relatedByAttribute": "companyID"]
    ) {
      Attribute("companyID", .integer64, .unique, .default(0))
      Attribute("companyName", .string, .default(""))
      Attribute("headcount", .integer64, .optional, .derived("employees.@count"))
      Attribute("homepage", .uri, .optional)
      Attribute("logo", .binary, .optional, .externalStorage)
      Attribute("seat", .composite("Address"), .optional)
      Relationship(
        "employees", to: "Employee", inverse: "company", .toMany, .count(...500),
        .renamed(from: "staff"), deleteRule: .cascade)
      FetchedPropertyDescription(
        name: "veterans",
        request: FetchTemplate(
          name: "fetchedPropertyFetchRequest", entity: "Employee",
          predicate: "company == $FETCH_SOURCE AND age >= 60", includesSubentities: false,
          includesPendingChanges: true))
      FetchIndexDescription(name: "byNameIndex", elements: [.init("companyName")])
    }
  }
}
