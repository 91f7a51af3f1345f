import ModelSamples
import ArborModelFiles
import ArborJSON
import ArborModel
import Foundation
import Testing

@Suite struct ModelDocumentTests {
  static let corporate = ModelFixtures.url("Corporate.xcdatamodeld")

  @Test("The marked version of a bundle is read")
  func readsTheMarkedVersionOfABundle() throws {
    let document = try ModelDocument(contentsOf: Self.corporate)
    #expect(document.versions.map(\.name) == ["Corporate", "Corporate 2"])
    #expect(document.currentVersion?.name == "Corporate 2")
    #expect(document.model.versionIdentifier == "2")
    #expect(try ManagedObjectModel(contentsOf: Self.corporate) == document.model)
  }

  @Test("Other versions are read by name and by fingerprint")
  func readsOtherVersionsByNameAndByFingerprint() throws {
    let document = try ModelDocument(contentsOf: Self.corporate)
    let first = try document.model(ofVersion: "Corporate")
    #expect(first.versionIdentifier == "1")
    #expect(try document.model(withFingerprint: first.fingerprint) == first)
    #expect(try document.model(withFingerprint: document.model.fingerprint) == document.model)
    let other = try ManagedObjectModel { EntityDescription("Other") }
    #expect(try document.model(withFingerprint: other.fingerprint) == nil)
    let error = #expect(throws: ArborError.self) { try document.model(ofVersion: "Corporat") }
    #expect(error?.code == .unknownName)
    #expect(error?.message.contains("Did you mean Corporate?") == true)
  }

  @Test(
    "A model has the name of its file",
    arguments: ["World.xcdatamodeld", "World.xcdatamodel", "World.model.json", "World.json"])
  func aModelIsCalledByItsFile(name: String) throws {
    try ModelFixtures.withFolder { folder in
      let model = try ManagedObjectModel { EntityDescription("A") {} }
      #expect(model.name.isEmpty)
      let url = folder.appending(path: name)
      try model.write(to: url)
      let document = try ModelDocument(contentsOf: url)
      #expect(document.model.name == "World" && document.model == model)
      if let version = document.currentVersion {
        #expect(try document.model(ofVersion: version.name).name == "World")
      }
      #expect(try ManagedObjectModel(contentsOf: url).name == "World")
    }
  }

  @Test("Unreadable versions are skipped unless no version has the fingerprint")
  func passesOverUnreadableVersionsUnlessNoneFits() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      for (name, entity) in [("Model", "A"), ("Model 2", "B"), ("Model 4", "D")] {
        try ModelFixtures.write(
          "<model><entity name='\(entity)'/></model>",
          to: bundle.appending(path: "\(name).xcdatamodel"))
      }
      try ModelFixtures.write("<model><ent", to: bundle.appending(path: "Model 3.xcdatamodel"))
      let mark =
        "<plist><dict><key>_XCCurrentVersionName</key><string>Model 4.xcdatamodel</string></dict>"
        + "</plist>"
      try Data(mark.utf8).write(to: bundle.appending(path: ".xccurrentversion"))
      let document = try ModelDocument(contentsOf: bundle)
      let second = try document.model(ofVersion: "Model 2")
      #expect(try document.model(withFingerprint: second.fingerprint) == second)
      let foreign = ManagedObjectModel(entities: [EntityDescription(name: "X")]).fingerprint
      let error = #expect(throws: ArborError.self) {
        try document.model(withFingerprint: foreign)
      }
      #expect(
        error?.message
          == "No readable version of Model.xcdatamodeld has the requested fingerprint, and these "
          + "versions cannot be read: Model 3. Restore or correct these versions.")
      #expect(error?.violations.count == 1)
      try FileManager.default.removeItem(at: bundle.appending(path: "Model 3.xcdatamodel"))
      #expect(try ModelDocument(contentsOf: bundle).model(withFingerprint: foreign) == nil)
    }
  }

  @Test("A single version, or its contents, is read")
  func readsASingleVersionAndItsContents() throws {
    let version = Self.corporate.appending(path: "Corporate.xcdatamodel")
    let model = try ManagedObjectModel(contentsOf: version)
    #expect(try ManagedObjectModel(contentsOf: version.appending(path: "contents")) == model)
    #expect(try ModelDocument(contentsOf: version).versions.isEmpty)
  }

  @Test("The JSON form is read")
  func readsTheJSONForm() throws {
    try ModelFixtures.withFolder { folder in
      let model = try ModelSamples.corporate()
      let url = folder.appending(path: "Corporate.model.json")
      try model.jsonData().write(to: url)
      #expect(try ManagedObjectModel(contentsOf: url) == model)
    }
  }

  @Test(
    "Files that are not models are refused",
    arguments: [
      ("Ancient.xcdatamodel", ArborError.Code.invalidModel, "before 2011"),
      ("Compiled.momd", .invalidModel, "compiled model"),
      ("Compiled.mom", .invalidModel, "compiled model"),
      ("Steps.xcmappingmodel", .invalidModel, "mapping model"),
      ("Readme.txt", .invalidArgument, "not a model file"),
      ("Missing.xcdatamodeld", .fileUnreadable, "cannot be read"),
      ("Missing.xcdatamodel", .fileUnreadable, "cannot be read"),
      ("Missing.model.json", .fileUnreadable, "cannot be read"),
    ])
  func refusesWhatIsNoModelFile(name: String, code: ArborError.Code, says: String) throws {
    let error = try #require(ModelFixtures.error(reading: ModelFixtures.url(name)))
    #expect(error.code == code)
    #expect(error.message.contains(says), "\(error)")
  }

  @Test(
    "A model file and its JSON form describe the same model",
    arguments: ["Corporate.xcdatamodeld", "Legacy.xcdatamodel"])
  func aFileSaysTheSameAsItsJSON(name: String) throws {
    let model = try ManagedObjectModel(contentsOf: ModelFixtures.url(name))
    for style in [JSONStyle.pretty, .compact] {
      let data = model.jsonData(style)
      let back = try ManagedObjectModel(json: data)
      #expect(back == model && back.fingerprint == model.fingerprint)
      #expect(ModelDigest(back) == ModelDigest(model))
      #expect(back.jsonData(style) == data)
    }
  }

  @Test("A model file and code describe the same model")
  func aFileSaysTheSameAsCode() throws {
    let file = try ManagedObjectModel(contentsOf: Self.corporate)
    let code = try ModelSamples.corporate()
    #expect(file == code && file.fingerprint == code.fingerprint)
    #expect(ModelDigest(file) == ModelDigest(code))
  }

  @Test("The demonstration's model is valid")
  func theDemonstrationModelIsSound() throws {
    let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "tools/world")
    let document = try ModelDocument(contentsOf: tools.appending(path: "World.xcdatamodeld"))
    #expect(document.warnings.map(\.message) == [])
    #expect(document.model.entities.count == 7)
    _ = try SchemaFixture.schema(of: document.model)
  }
}
