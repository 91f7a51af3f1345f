package import ArborModel
internal import Foundation

/// Models that the tests of several layers look at.
package enum ModelSamples {
  /// A model that breaks no rule.
  package static func sound() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person", isAbstract: true) {
        Attribute("name", .string, .bounds(0...80), .default("Jo"))
        Attribute("address", .composite("Address"), .optional)
      }
      Entity("Employee", parent: "Person", uniquenessConstraints: [["number", "company"]]) {
        Attribute("number", .integer32)
        Attribute("age", .integer16, .bounds(0...150), .default(18))
        Attribute("draft", .undefined, .transient)
        Relationship("company", to: "Company", inverse: "employees")
        Relationship("manager", to: "Employee", inverse: "reports")
        Relationship("reports", to: "Employee", inverse: "manager", .toMany)
        FetchedPropertyDescription(
          name: "peers", request: FetchRequestTemplate(name: "peers", entity: "Employee"))
      }
      Entity(
        "Company", fetchIndexes: [FetchIndexDescription(name: "byName", elements: [.init("name")])]
      ) {
        Attribute("name", .string)
        Relationship("employees", to: "Employee", inverse: "company", .toMany, .count(0...9))
      }
      Composite("Address") { Attribute("street", .string) }
      FetchRequestTemplate("everybody", entity: "Employee")
      Configuration("Cloud", entities: ["Company", "Employee"])
    }
  }

  /// What the current version of the tests' file `Corporate.xcdatamodeld` says.
  package static func corporate() throws -> ManagedObjectModel {
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
      FetchRequestTemplate(
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
        request: FetchRequestTemplate(
          name: "fetchedPropertyFetchRequest", entity: "Employee",
          predicate: "company == $FETCH_SOURCE AND age >= 60", includesSubentities: false,
          includesPendingChanges: true))
      FetchIndexDescription(name: "byNameIndex", elements: [.init("companyName")])
    }
  }
}
