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

  @Test func usesTheFirstVersionWhereNoneIsMarked() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      for name in ["B", "A", "C"] {
        try ModelFixtures.write(
          "<model userDefinedModelVersionIdentifier='\(name)'/>",
          to: bundle.appending(path: "\(name).xcdatamodel"))
      }
      let document = try ModelDocument(contentsOf: bundle)
      #expect(document.model.versionIdentifier == "A")
      #expect(document.warnings.count == 1)
      #expect(document.warnings.first?.message.contains("none of its 3 versions") == true)
      for name in ["B", "C"] {
        try FileManager.default.removeItem(at: bundle.appending(path: "\(name).xcdatamodel"))
      }
      #expect(try ModelDocument(contentsOf: bundle).warnings.isEmpty)
    }
  }

  @Test(arguments: [
    (
      "<plist><dict><key>_XCCurrentVersionName</key><string>Z.xcdatamodel</string></dict></plist>",
      "marks Z.xcdatamodel as current, which it does not hold"
    ),
    ("<plist><dict/></plist>", "no property list with the key"),
    ("nothing of the kind", "no property list with the key"),
  ])
  func refusesAMarkThatLeadsNowhere(mark: String, says: String) throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      try ModelFixtures.write("<model/>", to: bundle.appending(path: "A.xcdatamodel"))
      try Data(mark.utf8).write(to: bundle.appending(path: ".xccurrentversion"))
      let error = try #require(ModelFixtures.error(reading: bundle))
      #expect(error.code == .invalidModel)
      #expect(error.message.contains(says), "\(error)")
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

  @Test func refusesABundleWithoutVersions() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Empty.xcdatamodeld")
      try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
      let error = try #require(ModelFixtures.error(reading: bundle))
      #expect(error.message.contains("holds no .xcdatamodel version"))
    }
  }
}
