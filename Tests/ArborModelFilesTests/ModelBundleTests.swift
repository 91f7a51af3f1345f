import ModelSamples
import ArborModelFiles
import ArborModel
import Foundation
import Testing

@Suite struct ModelBundleTests {
  @Test("The first version is used if none is marked as current")
  func usesTheFirstVersionWhereNoneIsMarked() throws {
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

  @Test(
    "An empty mark means that no version is marked",
    arguments: [
      "<plist><dict/></plist>",
      "<plist><dict><key>_XCCurrentVersionName</key><string></string></dict></plist>",
    ])
  func anEmptyMarkIsNone(mark: String) throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      try ModelFixtures.write(
        "<model userDefinedModelVersionIdentifier='A'/>",
        to: bundle.appending(path: "A.xcdatamodel"))
      try Data(mark.utf8).write(to: bundle.appending(path: ".xccurrentversion"))
      let document = try ModelDocument(contentsOf: bundle)
      #expect(document.model.versionIdentifier == "A" && document.warnings.isEmpty)
      #expect(try ManagedObjectModel(contentsOf: bundle) == document.model)
    }
  }

  @Test("Hidden files beside the versions are ignored")
  func hiddenFilesAreNoVersions() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      try ModelFixtures.write(
        "<model userDefinedModelVersionIdentifier='A'/>",
        to: bundle.appending(path: "A.xcdatamodel"))
      for name in ["._A.xcdatamodel", "._.xccurrentversion", ".DS_Store", "._0.xcdatamodel"] {
        try Data([0, 5, 22, 7]).write(to: bundle.appending(path: name))
      }
      let document = try ModelDocument(contentsOf: bundle)
      #expect(document.versions.map(\.name) == ["A"])
      #expect(document.model.versionIdentifier == "A" && document.warnings.isEmpty)
      #expect(try document.model(withFingerprint: ModelFingerprint(bits: 1)) == nil)
    }
  }

  @Test("Versions are sorted by their numbers")
  func versionsSortAsPeopleCount() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Model.xcdatamodeld")
      let names = ["Model", "Model 1.9", "Model 1.10", "Model 2", "model 3", "Model 10"]
      for name in names.reversed() {
        try ModelFixtures.write(
          "<model userDefinedModelVersionIdentifier='\(name)'/>",
          to: bundle.appending(path: "\(name).xcdatamodel"))
      }
      let document = try ModelDocument(contentsOf: bundle)
      #expect(document.versions.map(\.name) == names)
    }
  }

  @Test(
    "A mark without a matching version is refused",
    arguments: [
      (
        "<plist><dict><key>_XCCurrentVersionName</key>"
          + "<string>Z.xcdatamodel</string></dict></plist>",
        "marks Z.xcdatamodel as current, but doesn't contain it"
      ),
      (
        "<plist><dict><key>_XCCurrentVersionName</key><array/></dict></plist>",
        "has no string for _XCCurrentVersionName"
      ),
      ("nothing of the kind", "is not a property list with a dictionary"),
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

  @Test("A bundle without versions is refused")
  func refusesABundleWithoutVersions() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Empty.xcdatamodeld")
      try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
      let error = try #require(ModelFixtures.error(reading: bundle))
      #expect(error.message.contains("contains no .xcdatamodel version"))
    }
  }

  @Test("A new bundle marks its version as current")
  func marksTheVersionOfANewBundle() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "R&D <1>.xcdatamodeld")
      let model = try ModelSamples.corporate()
      try model.write(to: bundle)
      try ModelFixtures.write("<model/>", to: bundle.appending(path: "A.xcdatamodel"))
      let document = try ModelDocument(contentsOf: bundle)
      #expect(document.currentVersion?.name == "R&D <1>")
      #expect(document.model == model && document.warnings.isEmpty)
    }
  }
}
