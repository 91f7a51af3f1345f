import ArborExchange
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct ManagedObjectContextExportingTests {
  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  private let keys = [
    "companyName", "employees", "name", "company", "departments", "title", "friends", "owner",
    "address", "city",
  ]

  @Test("An export as JSON is one document with a line per object")
  func writesOneDocumentWithALineForEachObject() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": [{"companyName": "Foo", "employees": [{"name": "a"}, {"name": "b"}]},
                   {"companyName": null}]}
      """#)
    let data = try workshop.context.export(
      FetchRequest<ManagedObject>(entity: "Company"), keys: keys)
    #expect(
      text(data) == #"""
        {"seeds":[
        {"Company":[
        {"$id":"Company/1","companyName":"Foo"},
        {"companyName":null}]},
        {"Employee":[
        {"name":"a","company":{"$ref":"Company/1"}},
        {"name":"b","company":{"$ref":"Company/1"}}]}
        ]}

        """#)
  }

  @Test("An export as JSON Lines has a document per line")
  func writesADocumentOnEachLine() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": [{"companyName": "Foo", "owner": {"$find": "Party", "name": "x"},
                    "employees": [{"name": "x"}]}]}
      """#
    )
    let data = try workshop.context.export(
      try workshop.all("Company"), as: .ndjson, keys: keys)
    #expect(
      text(data) == #"""
        {"Company":{"$id":"Company/1","companyName":"Foo","owner":{"$ref":"Employee/1"}}}
        {"Employee":{"$id":"Employee/1","name":"x","company":{"$ref":"Company/1"}}}

        """#)
  }

  @Test("An export of no objects is a valid document")
  func nothingIsADocumentToo() throws {
    let workshop = try SeedWorkshop()
    #expect(text(try workshop.context.export([ManagedObject]())) == "{\"seeds\":[]}\n")
    #expect(try workshop.context.export([ManagedObject](), as: .ndjson).isEmpty)
    try workshop.write(text(try workshop.context.export([ManagedObject]())))
    #expect(try workshop.seed(text(try workshop.context.export([ManagedObject]()))).count == 0)
  }

  @Test("A relationship and its inverse are exported once")
  func bothSidesOfInversesAreWrittenOnce() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": {"$id": "c", "address": {"city": "Bonn"},
        "departments": [{"title": "b"}, {"title": "a"}],
        "employees": [{"$id": "e", "name": "e",
          "friends": [{"name": "f", "friends": [{"$ref": "e"}]}]}]}}
      """#)
    let json = text(try workshop.context.export(try workshop.all("Company"), keys: keys))
    // Links are exported at the ordered side if there is one, otherwise at the to-one side. If both
    // sides are to-one, they are exported at the first by name.
    #expect(json.components(separatedBy: "\"departments\":").count == 2)
    #expect(!json.contains("\"employees\":"))
    #expect(json.components(separatedBy: "\"friends\":").count == 2)
    #expect(json.components(separatedBy: "\"company\":").count == 3)
    #expect(!json.contains("\"address\":"))
  }

  @Test("If the inverse is not exported, a relationship is written on its own side")
  func withoutItsInverseARelationshipIsWrittenWhereItIs() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": {"employees": [{"name": "a"}]}}"#)
    let data = try workshop.context.export(
      try workshop.all("Company"), keys: ["employees", "name"])
    #expect(
      text(data).contains(#"{"employees":[{"$ref":"Employee/1"}]}"#), "\(text(data))")
  }

  @Test("The depth limits which related objects are exported")
  func depthBoundsWhatIsReached() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Employee": {"name": "0", "friends": [{"name": "1", "friends": [{"name": "2",
        "friends": [{"name": "3"}]}]}]}}
      """#)
    let first = try workshop.all("Employee").prefix(1)
    for depth in 0...4 {
      let data = try workshop.context.export(first, as: .ndjson, depth: depth)
      #expect(text(data).split(separator: "\n").count == min(depth + 1, 4))
    }
    let all = try workshop.context.export(first, as: .ndjson)
    #expect(text(all).split(separator: "\n").count == 4)
    #expect(!text(try workshop.context.export(first, depth: 0)).contains("$ref"))
  }

  @Test("Objects are exported under the names of their subentities")
  func subentitiesStandUnderTheirOwnNames() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"seeds": [{"Manager": {"name": "m"}}, {"Employee": {"name": "e"}}]}"#)
    let data = try workshop.context.export(
      FetchRequest<ManagedObject>(entity: "Party", sortKeys: ["name"]), as: .ndjson, keys: ["name"])
    #expect(text(data) == "{\"Employee\":{\"name\":\"e\"}}\n{\"Manager\":{\"name\":\"m\"}}\n")
  }

  @Test("Objects are exported in the order of the request, then by entity and number")
  func theOrderIsThatOfTheRequestThenOfEntitiesAndNumbers() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": [{"companyName": "b", "employees": [{"name": "y"}]},
                   {"companyName": "a", "employees": [{"name": "x"}]}]}
      """#
    )
    let request = FetchRequest<ManagedObject>(entity: "Company", sortKeys: ["companyName"])
    let lines = text(try workshop.context.export(request, as: .ndjson, keys: keys))
      .split(separator: "\n")
    #expect(lines.count == 4 && lines[0].contains(#""a""#) && lines[1].contains(#""b""#))
    #expect(lines[2].contains(#""y""#) && lines[2].contains("Company/2"))
  }

  @Test("Null and values equal to the default are exported")
  func valuesEqualToTheDefaultAndNullAreWritten() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Employee": [{}, {"age": null}]}"#)
    let lines = text(
      try workshop.context.export(
        FetchRequest<ManagedObject>(entity: "Employee"), as: .ndjson, keys: ["age"]))
    #expect(lines == "{\"Employee\":{\"age\":18}}\n{\"Employee\":{\"age\":null}}\n")
  }

  @Test("An export includes pending changes and doesn't change the context")
  func pendingChangesCountAndNothingChanges() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": [{"companyName": "a"}, {"companyName": "b"}]}"#)
    try workshop.context.commit()
    let companies = try workshop.all("Company")
    try companies[0].setValue("changed", forKey: "companyName")
    workshop.context.delete(companies[1])
    let before = try workshop.context.digest()
    let data = try workshop.context.export(
      companies, as: .ndjson, keys: ["companyName"])
    #expect(text(data) == "{\"Company\":{\"companyName\":\"changed\"}}\n")
    #expect(try workshop.context.digest() == before)
  }

  @Test("An unknown key is rejected with a suggestion")
  func anUnknownKeyIsAnErrorWithTheNearestOne() throws {
    let workshop = try SeedWorkshop()
    let error = try #require(throws: ArborError.self) {
      try workshop.context.export([ManagedObject](), keys: ["companyNam"])
    }
    #expect(error.code == .unknownName && error.message.contains("Did you mean companyName?"))
  }

  @Test("An object of another context is rejected")
  func anObjectOfAnotherContextIsAnError() throws {
    let workshop = try SeedWorkshop()
    let other = workshop.store.makeContext()
    let object = try other.insert("Company")
    let error = try #require(throws: ArborError.self) { try workshop.context.export([object]) }
    #expect(error.code == .invalidArgument)
  }

  @Test("An export that fails leaves an existing file unchanged")
  func aFileIsWrittenAsAWholeOrNotAtAll() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": [{"companyName": "a"}]}"#)
    let url = workshop.folder.appending(path: "out.json")
    let request = FetchRequest<ManagedObject>(entity: "Company")
    try workshop.context.export(request, to: url)
    #expect(try Data(contentsOf: url) == workshop.context.export(request))
    let error = try #require(throws: ArborError.self) {
      try workshop.context.export(request, to: url, keys: ["nothing"])
    }
    #expect(error.code == .unknownName)
    #expect(try Data(contentsOf: url) == workshop.context.export(request))
    let names = try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
    #expect(names.sorted() == ["Main.json", "out.json"])
    #expect(
      try #require(throws: ArborError.self) {
        try workshop.context.export(request, to: workshop.folder.appending(path: "no/out.json"))
      }.code == .inputOutput)
    #expect(
      try #require(throws: ArborError.self) {
        try workshop.context.export(request, to: workshop.folder)
      }.code == .inputOutput)
  }

  @Test("Thousands of objects are exported and can be seeded again")
  func manyObjectsAreExportedAndSeededAgain() throws {
    let workshop = try SeedWorkshop()
    let employees = (0..<2_500).map { "{\"employeeID\": \($0)}" }.joined(separator: ",")
    try workshop.seed("{\"Company\": {\"employees\": [\(employees)]}}")
    try workshop.context.commit()
    let url = workshop.folder.appending(path: "out.ndjson")
    #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
    let handle = try FileHandle(forWritingTo: url)
    let request = FetchRequest<ManagedObject>(entity: "Employee")
    try workshop.context.export(request, to: handle, as: .ndjson)
    try handle.close()
    let other = try SeedWorkshop()
    let report = try other.context.seed(from: .file(url))
    #expect(report.created == ["Employee": 2_500, "Company": 1])
    #expect(try other.only("Company").objects(forKey: "employees").count() == 2_500)
    #expect(
      try other.context.export(request, as: .ndjson)
        == workshop.context.export(request, as: .ndjson))
    try other.finish()
  }

  @Test(
    "A full disk is reported as an error",
    .enabled(
      if: FileManager.default.fileExists(atPath: "/dev/full"), "the system has no full device"))
  func aFullDiskIsAnError() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": {}}"#)
    let error = try #require(throws: ArborError.self) {
      try workshop.context.export(FetchRequest<ManagedObject>(entity: "Company"), to: full)
    }
    #expect(error.code == .diskFull, "\(error.debugDescription)")
  }
}
