import ArborModel
import Foundation
import Testing

@Suite struct ModelJSONReaderTests {
  /// A handwritten model that uses all shorthand forms.
  static let text = """
    {
      "version": "7",
      "entities": {
        "Company": {
          "unique": ["companyID", ["name", "seat"]],
          "indexes": {"byName": ["name", "-companyID"]},
          "attributes": {
            "companyID": "integer64", "name": "string?", "seat": "string",
            "founded": {"type": "date", "default": "2001-01-02T00:00:00Z", "min": 0},
            "extra": {"type": "undefined", "transient": true, "default": 1.0}
          },
          "relationships": {
            "employees": {"to": "Employee", "inverse": "company", "toMany": true, "ordered": true,
              "deleteRule": "cascade", "max": 9}
          }
        },
        "Employee": {
          "attributes": {"age": {"type": "integer16", "default": 18, "min": 0, "indexed": true}},
          "relationships": {"company": {"to": "Company", "inverse": "employees", "optional": false}}
        }
      },
      "requests": {"adults": {"entity": "Employee", "predicate": "age >= 18", "results": "ids"}},
      "configurations": {"Cloud": ["Company"]}
    }
    """

  @Test("A hand-written model in JSON is read")
  func readsWhatAPersonWrites() throws {
    let model = try ManagedObjectModel(json: Data(Self.text.utf8))
    var expected = try ManagedObjectModel(versionIdentifier: "7") {
      EntityDescription(
        "Company", uniquenessConstraints: [["companyID"], ["name", "seat"]],
        fetchIndexes: [
          FetchIndexDescription(
            name: "byName", elements: [.init("name"), .init("companyID", isAscending: false)])
        ]
      ) {
        AttributeDescription("companyID", .integer64)
        AttributeDescription("name", .string, .optional)
        AttributeDescription("seat", .string)
        AttributeDescription(
          "founded", .date, .default(.date(Date(timeIntervalSinceReferenceDate: 86_400))),
          .bounds(Date(timeIntervalSinceReferenceDate: 0)...))
        AttributeDescription("extra", .undefined, .transient, .default(1.0))
        RelationshipDescription(
          "employees", to: "Employee", inverse: "company", .toMany, .ordered, .count(...9),
          deleteRule: .cascade)
      }
      EntityDescription("Employee") {
        AttributeDescription("age", .integer16, .default(18), .bounds(0...), .indexed)
        RelationshipDescription("company", to: "Company", inverse: "employees", .mandatory)
      }
      FetchRequestTemplate("adults", entity: "Employee", predicate: "age >= 18")
      ManagedObjectModel.Configuration("Cloud", entities: ["Company"])
    }
    expected.fetchRequestTemplates[0].resultType = .objectIDs
    #expect(model == expected)
  }

  @Test("All problems of a document are reported with their locations")
  func reportsEveryProblemWithItsPlace() throws {
    let text = """
      {
        "entities": {
          "Company": {
            "atributes": {},
            "attributes": {"size": "integr16", "name": {"type": "string", "optinal": true},
              "age": {"type": "integer16", "default": "old"}, "flag": true},
            "relationships": {"staff": {"to": "Employe", "inverse": "company"}},
            "unique": ["nam"]
          }
        },
        "requests": {"all": {"entity": "Compny"}}
      }
      """
    let error = #expect(throws: ArborError.self) {
      try ManagedObjectModel(json: Data(text.utf8), source: "x.model.json")
    }
    let violations = try #require(error).violations
    let found = violations.map {
      "\($0.location?.line ?? 0) \($0.entity ?? "-") \($0.keyPath ?? "-")"
    }
    #expect(
      found == [
        "4 Company -", "5 Company size", "5 Company name", "6 Company age", "6 Company flag",
        "7 Company staff", "8 Company -", "11 Compny -",
      ])
    #expect(violations[0].message.contains("Did you mean attributes?"))
    #expect(violations[1].message.contains("Did you mean integer16?"))
    #expect(violations[2].message.contains("Did you mean optional?"))
    #expect(violations.allSatisfy { $0.location?.source == "x.model.json" })
  }

  @Test(
    "Documents that aren't models are rejected",
    arguments: ["", "{", "[]", "{\"entities\": {\"A\": {}, \"A\": {}}}", "{\"entities\": 1}"])
  func refusesWhatIsNoModel(text: String) {
    let error = #expect(throws: ArborError.self) {
      try ManagedObjectModel(json: Data(text.utf8))
    }
    #expect(error?.code == .invalidModel)
    #expect(error?.violations.count == 1)
    #expect(error?.violations.first?.location != nil)
  }
}
