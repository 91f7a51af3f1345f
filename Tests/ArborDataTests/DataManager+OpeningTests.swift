import ArborData
import Foundation
import Testing

@Suite struct DataManagerOpeningTests {
  @Test func findsTheModelAndKeepsTheStoreInTheApplicationsFolder() throws {
    let folder = try Corporation.modelFolder(named: "Opening")
    let manager = try DataManager(modelNamed: "Opening", in: folder)
    try manager.insert("Company")
    try manager.commit()
    let file = Corporation.applicationData
      .appending(path: "\(ProcessInfo.processInfo.processName)/Opening.arbor")
    #expect(FileManager.default.fileExists(atPath: file.path))
    try manager.store.check()
  }

  @Test func findsAModelInOurJSONForm() throws {
    let folder = try Corporation.modelFolder(named: "Both")
    let model = try ManagedObjectModel(contentsOf: folder.appending(path: "Both.xcdatamodeld"))
    let other = Corporation.temporaryFolder()
    try model.jsonData().write(to: other.appending(path: "Ours.model.json"))
    let manager = try DataManager(modelNamed: "Ours", in: other)
    #expect(manager.store.model.entities.map(\.name) == ["Company", "Employee"])
  }

  @Test func aMissingModelIsAnErrorThatNamesWhatWasLookedFor() throws {
    let folder = try Corporation.modelFolder(named: "There")
    let error = try #require(throws: ArborError.self) {
      try DataManager(modelNamed: "Missing", in: folder)
    }
    #expect(error.code == .fileUnreadable)
    for form in ["Missing.xcdatamodeld", "Missing.xcdatamodel", "Missing.model.json"] {
      #expect(error.message.contains(form))
    }
  }

  @Test func twoAliasesAreTwoStores() throws {
    let folder = try Corporation.modelFolder(named: "Aliases")
    let one = try DataManager(modelNamed: "Aliases", in: folder, alias: "One")
    let other = try DataManager(modelNamed: "Aliases", in: folder, alias: "Other")
    #expect(one.store !== other.store)
    try one.insert("Company")
    try one.commit()
    #expect(try other.count("Company") == 0)
    try one.store.check()
    try other.store.check()
  }

  @Test func oneAliasIsOneStoreForOneModel() throws {
    let folder = try Corporation.modelFolder(named: "Shared")
    let one = try DataManager(modelNamed: "Shared", in: folder, alias: "OneStore")
    let other = try DataManager(modelNamed: "Shared", in: folder, alias: "OneStore")
    #expect(one.store === other.store)
    #expect(one.context !== other.context)
    try one.insert("Company")
    try one.commit()
    #expect(try other.count("Company") == 1)
    try one.store.check()
  }

  @Test func oneAliasWithAnotherModelThrows() throws {
    let folder = try Corporation.modelFolder(named: "First")
    let manager = try DataManager(modelNamed: "First", in: folder, alias: "Contested")
    let second = Corporation.temporaryFolder()
    let contents = second.appending(path: "Second.xcdatamodel")
    try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
    let xml = Corporation.modelXML.replacingOccurrences(of: "companyName", with: "title")
    try Data(xml.utf8).write(to: contents.appending(path: "contents"))
    let error = try #require(throws: ArborError.self) {
      try DataManager(modelNamed: "Second", in: second, alias: "Contested")
    }
    #expect(error.code == .modelMismatch)
    try manager.insert("Company")
    try manager.commit()
    try manager.store.check()
  }

  @Test func anAliasIsAFileName() throws {
    let folder = try Corporation.modelFolder(named: "Names")
    for alias in ["", ".", "..", "a/b", "/etc/passwd", "a\u{0}b"] {
      let error = try #require(throws: ArborError.self) {
        try DataManager(modelNamed: "Names", in: folder, alias: alias)
      }
      #expect(error.code == .invalidArgument)
    }
  }

  @Test func opensAFileAgainWithWhatWasCommitted() throws {
    let file = Corporation.temporaryFile("arbor")
    for expected in 1...3 {
      let manager = try DataManager(for: Company.self, Employee.self, at: .file(file))
      manager.insert(Company.self)
      try manager.commit()
      #expect(try manager.count(Company.self) == expected)
      try manager.store.check()
    }
    let manager = try DataManager(for: [Company.self, Employee.self], at: .file(file))
    try manager.store.destroy()
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func managersOnOneStoreSeeEachOthersCommits() throws {
    let one = try Corporation.manager()
    let other = DataManager(store: one.store)
    let company = one.insert(Company.self)
    #expect(try other.count("Company") == 0)
    try one.commit()
    #expect(try other.count("Company") == 1)
    company.companyName = "renamed"
    try one.commit()
    #expect(try other.fetchOne(Company.self)?.companyName == "renamed")
    try one.store.check()
  }

  @Test func versionsOfTheModelsFileTellRenames() throws {
    /// A bundle of versions, the last of which is current.
    func folder(_ names: [(String, from: String?)]) throws -> URL {
      let folder = Corporation.temporaryFolder()
      let bundle = folder.appending(path: "Renames.xcdatamodeld")
      for (index, name) in names.enumerated() {
        let version = bundle.appending(path: "Renames \(index + 1).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let model = ManagedObjectModel(entities: [
          EntityDescription(
            name: "Note",
            attributes: [
              AttributeDescription(
                name: name.0, type: .string, isOptional: true, renamingIdentifier: name.from)
            ])
        ])
        try model.xmlData().write(to: version.appending(path: "contents"))
      }
      let mark = ["_XCCurrentVersionName": "Renames \(names.count).xcdatamodel"]
      try PropertyListSerialization.data(fromPropertyList: mark, format: .xml, options: 0)
        .write(to: bundle.appending(path: ".xccurrentversion"))
      return folder
    }
    let names: [(String, from: String?)] = [("text", nil), ("body", "text"), ("content", "body")]
    do {
      let manager = try DataManager(modelNamed: "Renames", in: folder([names[0]]))
      try manager.insert("Note")["text"] = "kept"
      try manager.commit()
      manager.store.close()
    }
    let manager = try DataManager(modelNamed: "Renames", in: folder(names))
    #expect(
      try manager.fetch(FetchRequest<ManagedObject>(entity: "Note")).map { $0["content"] as String }
        == ["kept"])
    try manager.store.check()
    manager.store.close()
  }
}
