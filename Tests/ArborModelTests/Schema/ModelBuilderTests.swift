import ArborModel
import Foundation
import Testing

@Suite struct ModelBuilderTests {
  @Test("The model builder creates the described model")
  func writesWhatDescriptionsSay() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("companyName", .string, .indexed, .default(""))
        RelationshipDescription(
          "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
      }
      EntityDescription(
        "Employee", parent: "Person", uniquenessConstraints: [["company", "number"]]
      ) {
        AttributeDescription("number", .integer32, .unique)
        RelationshipDescription("company", to: "Company", inverse: "employees", .mandatory)
      }
      EntityDescription("Person", isAbstract: true, className: "Human", userInfo: ["k": "v"]) {
        AttributeDescription("name", .string, .optional, .bounds(1...80), .pattern("[A-Z].*"))
        AttributeDescription("photo", .binary, .optional, .externalStorage, .renamed(from: "image"))
        AttributeDescription("draft", .undefined, .transient, .userInfo(["a": "b"]))
      }
      FetchRequestTemplate("all", entity: "Employee")
      ManagedObjectModel.Configuration("Cloud", entities: ["Company"])
    }
    let company = EntityDescription(
      name: "Company",
      attributes: [
        AttributeDescription(
          name: "companyName", type: .string, defaultValue: "", isIndexed: true)
      ],
      relationships: [
        RelationshipDescription(
          name: "employees", destination: "Employee", inverse: "company", isToMany: true,
          deleteRule: .cascade)
      ])
    let employee = EntityDescription(
      name: "Employee", parent: "Person",
      attributes: [AttributeDescription(name: "number", type: .integer32)],
      relationships: [
        RelationshipDescription(
          name: "company", destination: "Company", inverse: "employees", isOptional: false)
      ], uniquenessConstraints: [["number"], ["company", "number"]])
    let person = EntityDescription(
      name: "Person", className: "Human", isAbstract: true,
      attributes: [
        AttributeDescription(
          name: "name", type: .string, isOptional: true, minimum: 1, maximum: 80,
          regularExpression: "[A-Z].*"),
        AttributeDescription(
          name: "photo", type: .binary, isOptional: true, allowsExternalStorage: true,
          renamingIdentifier: "image"),
        AttributeDescription(
          name: "draft", type: .undefined, isTransient: true, userInfo: ["a": "b"]),
      ], userInfo: ["k": "v"])
    #expect(
      model
        == ManagedObjectModel(
          entities: [company, employee, person],
          fetchRequestTemplates: [FetchRequestTemplate(name: "all", entity: "Employee")],
          configurations: ["Cloud": ["Company"]]))
  }

  @Test("The model builder accepts conditions and loops")
  func takesConditionsAndLoops() throws {
    let isLarge = true
    let model = try ManagedObjectModel {
      for letter in ["A", "B"] {
        EntityDescription(letter) {
          if isLarge { AttributeDescription("size", .double, .default(1)) }
          for number in 1...2 { AttributeDescription("value\(number)", .decimal, .default(9.99)) }
        }
      }
      if !isLarge { EntityDescription("C") }
    }
    #expect(model.entities.map(\.name) == ["A", "B"])
    #expect(model.entities[1].attributes.map(\.name) == ["size", "value1", "value2"])
  }

  @Test("Literals are converted to their attribute's type")
  func bringsLiteralsIntoTheirAttributesForm() throws {
    let id = UUID()
    let model = try ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("size", .double, .default(1), .bounds(0...2))
        AttributeDescription("price", .decimal, .default(9.99), .bounds(...10))
        AttributeDescription("id", .uuid, .default(.string(id.uuidString)))
        AttributeDescription("since", .date, .bounds(Date.distantPast...))
        AttributeDescription("ratio", .float, .default(0.1))
      }
    }
    let attributes = model.entities[0].attributes
    #expect(
      attributes.map(\.defaultValue) == [
        .double(1), .decimal(Decimal(string: "9.99") ?? 0), .uuid(id), .null,
        .double(Double(Float(0.1))),
      ])
    #expect(attributes[0].minimum == .double(0) && attributes[0].maximum == .double(2))
    #expect(attributes[1].minimum == .null && attributes[1].maximum == .decimal(10))
    #expect(attributes[3].minimum == .date(.distantPast) && attributes[3].maximum == .null)
  }

  @Test("Default values of every type are accepted")
  func takesDefaultsOfEveryKind() throws {
    let (count, id, day) = (7, UUID(), Date(timeIntervalSinceReferenceDate: 1))
    let model = try ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("count", .integer64, .default(count))
        AttributeDescription("id", .uuid, .default(id))
        AttributeDescription("day", .date, .default(day))
        AttributeDescription("day2", .date, .default(.date(day)))
        AttributeDescription("none", .string, .default(nil))
        AttributeDescription("flag", .boolean, .default(true))
        AttributeDescription("text", .string, .default("a"))
      }
    }
    #expect(
      model.entities[0].attributes.map(\.defaultValue) == [
        7, .uuid(id), .date(day), .date(day), .null, true, "a",
      ])
  }

  @Test("An invalid model is rejected")
  func refusesAModelWithProblems() {
    let error = #expect(throws: ArborError.self) {
      try ManagedObjectModel {
        EntityDescription("Company") {
          RelationshipDescription("employees", to: "Employe", inverse: "company")
        }
        EntityDescription("Employee") {
          RelationshipDescription("company", to: "Company", inverse: "employees")
        }
      }
    }
    #expect(error?.code == .invalidModel)
    let problem = error?.violations.first
    #expect(problem?.entity == "Company" && problem?.keyPath == "employees")
  }
}
