import ArborModel
import Foundation
import Testing

@Suite struct ModelDocumentTests {
  static let corporate = ModelFixtures.url("Corporate.xcdatamodeld")

  @Test func readsTheMarkedVersionOfABundle() throws {
    let document = try ModelDocument(contentsOf: Self.corporate)
    #expect(document.versions.map(\.name) == ["Corporate", "Corporate 2"])
    #expect(document.currentVersion?.name == "Corporate 2")
    #expect(document.model.versionIdentifier == "2")
    #expect(try ManagedObjectModel(contentsOf: Self.corporate) == document.model)
  }

  @Test func readsOtherVersionsByNameAndByFingerprint() throws {
    let document = try ModelDocument(contentsOf: Self.corporate)
    let first = try document.model(ofVersion: "Corporate")
    #expect(first.versionIdentifier == "1")
    #expect(try document.model(withFingerprint: first.fingerprint) == first)
    #expect(try document.model(withFingerprint: document.model.fingerprint) == document.model)
    let other = try ManagedObjectModel { Entity("Other") }
    #expect(try document.model(withFingerprint: other.fingerprint) == nil)
    let error = #expect(throws: ArborError.self) { try document.model(ofVersion: "Corporat") }
    #expect(error?.code == .unknownName)
    #expect(error?.message.contains("Did you mean Corporate?") == true)
  }

  @Test func readsASingleVersionAndItsContents() throws {
    let version = Self.corporate.appending(path: "Corporate.xcdatamodel")
    let model = try ManagedObjectModel(contentsOf: version)
    #expect(try ManagedObjectModel(contentsOf: version.appending(path: "contents")) == model)
    #expect(try ModelDocument(contentsOf: version).versions.isEmpty)
  }

  @Test func readsTheJSONForm() throws {
    try ModelFixtures.withFolder { folder in
      let model = try ModelFixtures.corporate()
      let url = folder.appending(path: "Corporate.model.json")
      try model.jsonData().write(to: url)
      #expect(try ManagedObjectModel(contentsOf: url) == model)
    }
  }

  @Test(arguments: [
    ("Ancient.xcdatamodel", ArborError.Code.invalidModel, "before 2011"),
    ("Compiled.momd", .invalidModel, "compiled model"),
    ("Compiled.mom", .invalidModel, "compiled model"),
    ("Steps.xcmappingmodel", .invalidModel, "mapping between two models"),
    ("Readme.txt", .invalidArgument, "no model file"),
    ("Missing.xcdatamodeld", .fileUnreadable, "cannot be read"),
    ("Missing.xcdatamodel", .fileUnreadable, "cannot be read"),
    ("Missing.model.json", .fileUnreadable, "cannot be read"),
  ])
  func refusesWhatIsNoModelFile(name: String, code: ArborError.Code, says: String) throws {
    let error = try #require(ModelFixtures.error(reading: ModelFixtures.url(name)))
    #expect(error.code == code)
    #expect(error.message.contains(says), "\(error)")
  }
}
