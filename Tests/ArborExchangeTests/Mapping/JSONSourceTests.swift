import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Imports, syncs, seeds and value models accept every kind of source.
@Suite struct JSONSourceTests {
  private struct Worker: ValueModel, Equatable {
    static let entityName = "Employee"
    var name: String
  }

  private struct Refusing: Encodable {
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "refused"))
    }
  }

  private static let sources: [(String, JSONSource)] = [
    ("value", .value(["employeeID": 1, "name": "Ada"])),
    ("object literal", ["employeeID": 1, "name": "Ada"]),
    ("text literal", #"{"employeeID": 1, "name": "Ada"}"#),
    ("data", .data(Data(#"{"employeeID": 1, "name": "Ada"}"#.utf8))),
    ("encoding", .encoding(["employeeID": 1, "name": "Ada"] as JSONValue)),
  ]

  @Test("An import, a sync and a value model read every source", arguments: sources)
  func everySourceIsRead(_ name: String, _ source: JSONSource) throws {
    let workshop = try ImportWorkshop()
    let object = try workshop.context.importObject(from: source, as: "Employee")
    #expect(object?["name"] == "Ada")
    #expect(try ValueAdapter.decode(Worker.self, from: source) == Worker(name: "Ada"))
    struct Serializer: SyncSerializer {
      typealias Object = ManagedObject
      let entityName: String? = "Employee"
      let deleteMissing = false
      let mapping: SyncMapping = ["name": .string("name")]
    }
    #expect(try workshop.context.sync(from: source, using: Serializer()).inserted == 1)
    try workshop.finish()
  }

  @Test("A list in memory is imported in batches")
  func listsInMemoryAreCommittedInBatches() async throws {
    let workshop = try ImportWorkshop()
    var options = ImportOptions()
    options.batchSize = 2
    let items = JSONValue.array((1...5).map { ["employeeID": .number(JSONNumber(Int64($0)))] })
    for source in [JSONSource.value(items), .data(items.data()), .encoding(items)] {
      let end = try await workshop.store.importObjects(
        from: source, as: "Employee", options: options
      ).finish()
      #expect(end.items == 5)
    }
    #expect(try workshop.all("Employee").count == 5)
  }

  @Test("A value that can't be encoded is rejected")
  func unencodableValuesAreRefused() throws {
    let workshop = try ImportWorkshop()
    let error = try workshop.failure {
      try workshop.context.importObject(from: .encoding(Refusing()), as: "Employee")
    }
    #expect(error.code == .invalidArgument && error.underlying != nil)
    #expect(error.message.contains("Refusing cannot be encoded"))
  }

  @Test("Errors contain the name of the source")
  func errorsNameTheSource() throws {
    let workshop = try ImportWorkshop()
    let error = try workshop.failure {
      try workshop.context.importObjects(
        from: .data(Data("[\n{]".utf8), named: "staff.json"), as: "Employee")
    }
    #expect(error.location?.source == "staff.json" && error.location?.line == 2)
  }

  @Test("A seed reads documents in memory, which can link to files in a root folder")
  func seedsAreReadFromMemory() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.context.seed(from: [
      ["Company": ["companyName": "a", "employees": [["name": "Ada"]]]], "{\"Company\": {}}",
    ])
    #expect(report.created == ["Company": 2, "Employee": 1] && report.documents.isEmpty)
    let url = try workshop.write(#"{"Employee": {"name": "Eve"}}"#, to: "Staff.json")
    let linking: JSONSource = ["seedlings": [["seedFile": "Staff.json"]]]
    let error = try #require(throws: ArborError.self) {
      try workshop.context.seed(from: linking)
    }
    #expect(error.code == .notAllowed && error.location?.path == "$.seedlings[0].seedFile")
    var options = SeedOptions()
    options.root = workshop.folder
    #expect(try workshop.context.seed(from: linking, options: options).documents == [url])
    options.maximumSize = 10
    let large = try #require(throws: ArborError.self) {
      try workshop.context.seed(from: linking, options: options)
    }
    #expect(large.code == .limitExceeded)
    try workshop.finish()
  }
}
