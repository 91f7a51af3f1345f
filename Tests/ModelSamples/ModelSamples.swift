package import ArborModel
internal import Foundation

/// Models that the tests of several layers share.
package enum ModelSamples {
  /// Returns a valid model.
  package static func sound() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .bounds(0...80), .default("Jo"))
        AttributeDescription("address", .composite("Address"), .optional)
      }
      EntityDescription(
        "Employee", parent: "Person", uniquenessConstraints: [["number", "company"]]
      ) {
        AttributeDescription("number", .integer32)
        AttributeDescription("age", .integer16, .bounds(0...150), .default(18))
        AttributeDescription("draft", .undefined, .transient)
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("manager", to: "Employee", inverse: "reports")
        RelationshipDescription("reports", to: "Employee", inverse: "manager", .toMany)
        FetchedPropertyDescription(
          name: "peers", request: FetchRequestTemplate(name: "peers", entity: "Employee"))
      }
      EntityDescription(
        "Company", fetchIndexes: [FetchIndexDescription(name: "byName", elements: [.init("name")])]
      ) {
        AttributeDescription("name", .string)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "company", .toMany, .count(0...9))
      }
      CompositeDescription("Address") { AttributeDescription("street", .string) }
      FetchRequestTemplate("everybody", entity: "Employee")
      ManagedObjectModel.Configuration("Cloud", entities: ["Company", "Employee"])
    }
  }

  /// Returns the model of the current version in the test file `Corporate.xcdatamodeld`.
  package static func corporate() throws -> ManagedObjectModel {
    let day = Date(timeIntervalSinceReferenceDate: 86_400)
    var model = try ManagedObjectModel(versionIdentifier: "2") {
      company
      EntityDescription(
        "Employee", parent: "Person", className: "Corporate.Employee",
        uniquenessConstraints: [["name", "company"]],
        fetchIndexes: [
          FetchIndexDescription(
            name: "byAgeAndSalary",
            elements: [.init("age"), .init("salary", isAscending: false)])
        ], versionHashModifier: "two"
      ) {
        AttributeDescription(
          "age", .integer16, .bounds(0...150), .default(18), .userInfo(["mappedKeyName": "years"]))
        AttributeDescription("badge", .uuid, .optional)
        AttributeDescription(
          "hired", .date, .optional, .default(.date(day)),
          .bounds(
            Date(
              timeIntervalSinceReferenceDate: 0)...Date(
                timeIntervalSinceReferenceDate: 946_684_800)))
        AttributeDescription("isActive", .boolean, .default(true))
        AttributeDescription("preferences", .transformable("NSSecureUnarchiveFromData"), .optional)
        AttributeDescription("rating", .float, .optional, .default(0.5))
        AttributeDescription(
          "salary", .double, .default(0), .preservedOnDeletion, .versionHashModifier("cents"))
        AttributeDescription("share", .decimal, .optional, .default(12.5))
        AttributeDescription("totals", .undefined, .optional, .transient)
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("manager", to: "Employee", inverse: "reports", deleteRule: .deny)
        RelationshipDescription(
          "reports", to: "Employee", inverse: "manager", .toMany, .ordered, deleteRule: .noAction)
      }
      EntityDescription("Person", isAbstract: true, renamedFrom: "Human") {
        AttributeDescription(
          "name", .string, .bounds(1...80), .pattern("\\S.*"), .renamed(from: "fullName"))
      }
      FetchRequestTemplate(
        "companyWellPaidEmployees", entity: "Employee",
        predicate: "company == $company AND salary > 60000")
      ManagedObjectModel.Configuration("Cloud", entities: ["Company", "Employee"])
      CompositeDescription("Address") {
        AttributeDescription("city", .string, .optional)
        AttributeDescription("street", .string, .optional)
      }
    }
    model.fetchRequestTemplates.append(
      FetchRequestTemplate(
        name: "someNames", entity: "Person", fetchLimit: 10, fetchBatchSize: 5,
        includesSubentities: false, includesPendingChanges: true, returnsDistinctResults: true,
        resultType: .rows))
    model.entities[1].attributes[4].valueClassName = "[String]"
    return model
  }

  private static var company: EntityDescription {
    EntityDescription(
      "Company", className: "Company", userInfo: ["relatedByAttribute": "companyID"]
    ) {
      AttributeDescription("companyID", .integer64, .unique, .default(0))
      AttributeDescription("companyName", .string, .default(""))
      AttributeDescription("headcount", .integer64, .optional, .derived("employees.@count"))
      AttributeDescription("homepage", .uri, .optional)
      AttributeDescription("logo", .binary, .optional, .externalStorage)
      AttributeDescription("seat", .composite("Address"), .optional)
      RelationshipDescription(
        "employees", to: "Employee", inverse: "company", .toMany, .count(...500),
        .renamed(from: "staff"), deleteRule: .cascade)
      FetchedPropertyDescription(
        name: "veterans",
        request: FetchRequestTemplate(
          name: "fetchedPropertyFetchRequest", entity: "Employee",
          predicate: "company == $FETCH_SOURCE AND age >= 60", includesSubentities: false,
          includesPendingChanges: true))
      FetchIndexDescription(name: "byNameIndex", elements: [.init("companyName")])
    }
  }
}
