import ArborData
import Foundation
import Testing

@Suite struct DataManagerOpeningTests {
  @Test("The model is found by its name, and the store is in the application's folder")
  func findsTheModelAndKeepsTheStoreInTheApplicationsFolder() throws {
    let folder = try Corporation.modelFolder(named: "Opening")
    let manager = try DataManager(modelNamed: "Opening", in: folder)
    try manager.insert("Company")
    try manager.commit()
    let file = Corporation.applicationData
      .appending(path: "\(ProcessInfo.processInfo.processName)/Opening.arbor")
    #expect(FileManager.default.fileExists(atPath: file.path))
    try manager.store.check()
  }

  @Test("A model in the JSON form is found")
  func findsAModelInOurJSONForm() throws {
    let folder = try Corporation.modelFolder(named: "Both")
    let model = try ManagedObjectModel(contentsOf: folder.appending(path: "Both.xcdatamodeld"))
    let other = Corporation.temporaryFolder()
    try model.jsonData().write(to: other.appending(path: "Ours.model.json"))
    let manager = try DataManager(modelNamed: "Ours", in: other)
    #expect(manager.store.model.entities.map(\.name) == ["Company", "Employee"])
  }

  @Test("The error for a missing model lists the file names that were tried")
  func aMissingModelIsAnErrorThatNamesWhatWasLookedFor() throws {
    let folder = try Corporation.modelFolder(named: "There")
    let error = try #require(throws: ArborError.self) {
      try DataManager(modelNamed: "Missing", in: folder)
    }
    #expect(error.code == .fileUnreadable)
    for form in ["Missing.xcdatamodeld", "Missing.xcdatamodel", "Missing.model.json"] {
      #expect(error.message.contains(form))
    }
  }

  @Test("Two aliases are two stores")
  func twoAliasesAreTwoStores() throws {
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

  @Test("One alias is one store for one model")
  func oneAliasIsOneStoreForOneModel() throws {
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

  @Test("An alias that is in use for one model cannot be opened with another")
  func oneAliasWithAnotherModelThrows() throws {
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

  @Test("An alias has to be a valid file name")
  func anAliasIsAFileName() throws {
    let folder = try Corporation.modelFolder(named: "Names")
    for alias in ["", ".", "..", "a/b", "/etc/passwd", "a\u{0}b"] {
      let error = try #require(throws: ArborError.self) {
        try DataManager(modelNamed: "Names", in: folder, alias: alias)
      }
      #expect(error.code == .invalidArgument)
    }
  }

  @Test("A reopened file contains the committed objects, and `destroy()` removes it")
  func opensAFileAgainWithWhatWasCommitted() throws {
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

  @Test("Managers of one store see each other's commits")
  func managersOnOneStoreSeeEachOthersCommits() throws {
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

  // MARK: Versions of a model's file

  /// Creates a folder with a versioned model bundle whose last version is the current one.
  private func folder(
    _ name: String, _ versions: [(name: String, model: ManagedObjectModel)]
  ) throws -> URL {
    let folder = Corporation.temporaryFolder()
    let bundle = folder.appending(path: "\(name).xcdatamodeld")
    for version in versions {
      let url = bundle.appending(path: "\(version.name).xcdatamodel")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try version.model.xmlData().write(to: url.appending(path: "contents"))
    }
    let current = versions.last.map { "\($0.name).xcdatamodel" } ?? ""
    try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": current], format: .xml, options: 0
    ).write(to: bundle.appending(path: ".xccurrentversion"))
    return folder
  }

  private func days(
    _ version: String, _ attributes: [String], default value: PropertyValue = .null
  ) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: [
        EntityDescription(
          name: "Day",
          attributes: attributes.map {
            AttributeDescription(
              name: $0, type: .string, isOptional: true, defaultValue: $0 == "mood" ? value : .null)
          })
      ], versionIdentifier: version)
  }

  /// Returns model versions whose names don't sort by age.
  private func diary() -> [(name: String, model: ManagedObjectModel)] {
    [
      ("Diary_first", days("1", ["text"])),
      ("Diary_mood", days("2", ["text", "mood"], default: "calm")),
      ("Diary_plain", days("3", ["text"])),
      ("Diary_again", days("4", ["text", "mood"])),
      ("Diary_body", days("5", ["text", "mood", "body"])),
      ("Diary_tags", days("6", ["text", "mood", "body", "tag"])),
    ]
  }

  @Test(
    "A store migrates directly to the current version, whatever the versions are called",
    arguments: [StoreOptions.Migration.automatic, .automatic(dropping: .everythingRemoved)],
    0..<5)
  func aStoreGoesStraight(migration: StoreOptions.Migration, version: Int) throws {
    let versions = diary()
    let names = versions[version].model.entities[0].attributes.map(\.name)
    let alias = "Diary \(version) \(migration == .automatic)"
    do {
      let manager = try DataManager(
        modelNamed: "Diary", in: folder("Diary", Array(versions[...version])), alias: alias)
      let day = try manager.insert("Day")
      for name in names { day[name] = "my \(name)" }
      try manager.commit()
      manager.store.close()
    }
    let manager = try DataManager(
      modelNamed: "Diary", in: folder("Diary", versions), alias: alias,
      options: StoreOptions(migration: migration))
    defer { manager.store.close() }
    let day = try #require(try manager.fetchAll("Day").first)
    for name in ["text", "mood", "body", "tag"] {
      #expect(
        try day.value(forKey: name) == (names.contains(name) ? .string("my \(name)") : .null),
        "\(name)")
    }
    try manager.store.check()
  }

  @Test(
    "Migration steps apply to stores of the versions that they lead from",
    arguments: [
      // Names that sort by age: a store of the first version passes through the step, too.
      (["Day 1", "Day 2", "Day 3", "Day 4"], 0, "stepped"), (["a", "b", "c", "d"], 1, "stepped"),
      (["a", "b", "c", "d"], 2, nil),
      // Names that sort unlike the step's versions: only a store of the step's source version
      // passes through the step.
      (["y", "z", "b", "a"], 1, "stepped"), (["y", "z", "b", "a"], 0, nil),
      (["y", "z", "b", "a"], 2, nil),
    ] as [([String], Int, String?)])
  func stepsLeadOverTheVersionsTheyName(names: [String], version: Int, tag: String?) throws {
    let models = [
      days("1", ["text"]), days("2", ["text", "body"]), days("3", ["text", "body", "tag"]),
      days("4", ["text", "body", "tag", "mood"]),
    ]
    let versions = zip(names, models).map { (name: $0, model: $1) }
    let alias = "Steps \(names[0]) \(version)"
    do {
      let manager = try DataManager(
        modelNamed: "Day", in: folder("Day", Array(versions[...version])), alias: alias)
      try manager.insert("Day")["text"] = "kept"
      try manager.commit()
      manager.store.close()
    }
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: "2", to: "3") { migration in
        try migration.migrate("Day") { _, new in new["tag"] = "stepped" }
      }
    ]
    let manager = try DataManager(
      modelNamed: "Day", in: folder("Day", versions), alias: alias, options: options)
    defer { manager.store.close() }
    let day = try #require(try manager.fetchAll("Day").first)
    #expect(day["text"] as String == "kept")
    #expect(day["tag"] as String? == tag)
    try manager.store.check()
  }

  @Test("The versions in a model bundle provide the renames between them")
  func versionsOfTheModelsFileTellRenames() throws {
    let names: [(String, from: String?)] = [("text", nil), ("body", "text"), ("content", "body")]
    let versions = names.enumerated().map { index, name in
      (
        name: "Renames \(index + 1)",
        model: ManagedObjectModel(entities: [
          EntityDescription(
            name: "Note",
            attributes: [
              AttributeDescription(
                name: name.0, type: .string, isOptional: true, renamingIdentifier: name.from)
            ])
        ])
      )
    }
    do {
      let manager = try DataManager(
        modelNamed: "Renames", in: folder("Renames", [versions[0]]))
      try manager.insert("Note")["text"] = "kept"
      try manager.commit()
      manager.store.close()
    }
    let manager = try DataManager(modelNamed: "Renames", in: folder("Renames", versions))
    #expect(
      try manager.fetch(FetchRequest<ManagedObject>(entity: "Note")).map { $0["content"] as String }
        == ["kept"])
    try manager.store.check()
    manager.store.close()
  }

  @Test("A request that uses a removed property throws when it is used")
  func aStaleRequestThrowsWhenUsed() throws {
    var model = days("1", ["text"])
    model.fetchRequestTemplates = [
      FetchRequestTemplate(name: "stale", entity: "Day", predicate: "internalID == $ID"),
      FetchRequestTemplate(name: "fresh", entity: "Day", predicate: "text == $TEXT"),
    ]
    model.entities[0].fetchedProperties = [
      FetchedPropertyDescription(
        name: "others",
        request: FetchRequestTemplate(name: "r", entity: "Day", predicate: "gone == $FETCH_SOURCE"))
    ]
    let manager = try DataManager(modelNamed: "Stale", in: folder("Stale", [("Stale", model)]))
    defer { manager.store.close() }
    try manager.insert("Day")["text"] = "kept"
    try manager.commit()
    let fresh = try manager.store.fetchRequest(named: "fresh", substituting: ["TEXT": "kept"])
    #expect(try manager.fetch(fresh).count == 1)
    let error = try #require(
      throws: ArborError.self,
      performing: {
        try manager.fetch(manager.store.fetchRequest(named: "stale", substituting: ["ID": 1]))
      })
    #expect(error.message.contains("internalID") && error.message.contains("Day"))
  }
}
