import ArborData
import Foundation
import TestSupport
import Testing

/// Store files, decoded with the model that they contain.
@Suite("Store files") struct StoreFileTests {
  let office: OfficeStore
  var inspection: Inspection { Inspection(office.url) }

  init() throws { office = try OfficeStore() }

  @Test("`info` counts the objects")
  func infoCountsTheObjects() throws {
    let info = try #require(try inspection.json("info") as? [String: Any])
    #expect(info["kind"] as? String == "ArborData store")
    #expect(info["format"] as? String == "5.0")
    #expect(info["commits"] as? Int == 1)
    #expect(info["modelFingerprint"] as? String == "\(office.model.fingerprint)")
    #expect(
      info["objects"] as? [String: Int] == ["Employee": 3, "Office": 1, "Project": 1])
    #expect(try inspection.run("info").output.contains("Employee 3, Office 1, Project 1"))
  }

  @Test("`info` distinguishes used and free pages")
  func infoTellsUsedFromFree() throws {
    let info = try #require(try inspection.json("info") as? [String: Any])
    let pages = try #require(info["pages"] as? [String: Int])
    let (file, used, free) = (pages["file"] ?? 0, pages["used"] ?? 0, pages["free"] ?? 0)
    #expect(used > 10 && free > 0 && used + free == file, "\(pages)")
    let size = try #require(info["pageSize"] as? Int)
    #expect(info["usedBytes"] as? Int == used * size)
    #expect(info["freeBytes"] as? Int == free * size)
    #expect(file * size <= info["bytes"] as? Int ?? 0)
    let tables = try #require(info["tablePages"] as? [String: Int])
    #expect(tables["e/Employee"] == 1)
    #expect(tables.values.reduce(0, +) < used)
    let text = try inspection.run("info").output
    #expect(text.contains("pages"))
    #expect(text.contains("\(file) in the file, \(used) used, \(free) free"))
  }

  @Test("`tables` lists the names of the store format")
  func tablesAreNamedAsTheFormatSays() throws {
    let tables = try #require(try inspection.json("tables") as? [[String: Any]])
    let names = Set(tables.compactMap { $0["name"] as? String })
    let expected: Set = [
      "arbor", "history", "e/Employee", "e/Office", "e/Project", "i/Person/name",
      "i/Employee/badge", "i/Employee/age", "r/Office/employees",
    ]
    #expect(expected.isSubset(of: names), "\(names)")
  }

  @Test("`index` lists what is indexed")
  func indexListsWhatIndexesAreOver() throws {
    let indexes = try #require(try inspection.json("index") as? [[String: Any]])
    let names = indexes.map { "\($0["entity"] ?? "").\($0["name"] ?? "")" }
    #expect(names == ["Employee.age", "Employee.badge", "Person.name"])
    #expect(indexes.map { $0["entries"] as? Int } == [3, 3, 3])
    #expect(indexes.map { $0["unique"] as? Bool } == [false, true, false])
    let text = try inspection.run("index", "Employee").output
    #expect(text.contains("Employee.badge  unique (badge)"))
    #expect(!text.contains("Person.name"))
    #expect(try inspection.run("index", "Emploiee").status == 1)
  }

  @Test("`dump` decodes every type of attribute")
  func dumpDecodesEveryType() throws {
    let objects = try #require(try inspection.json("dump", "Employee") as? [[String: Any]])
    #expect(objects.compactMap { $0["id"] as? String } == (1...3).map { "Employee/\($0)" })
    let values = try #require(objects.first?["attributes"] as? [String: Any])
    #expect(values["name"] as? String == "Ada")
    #expect(values["age"] as? Int == 36)
    #expect(values["born"] as? String == "2001-09-09T01:46:40.250Z")
    #expect(values["badge"] as? String == OfficeStore.badge.uuidString)
    #expect(values["rate"] as? Double == 0.5)
    #expect(values["isActive"] as? Bool == true)
    #expect(values["photo"] as? String == Data([0xCA, 0xFE, 0x00]).base64EncodedString())
    #expect(values["page"] as? String == "https://example.com/ada")
    let text = try inspection.run("dump", "Employee", "--json").output
    #expect(text.contains("1234567890123456789.25"), "decimals keep every digit")
    #expect((objects[1]["attributes"] as? [String: Any])?["photo"] is NSNull)
  }

  @Test("`dump` of a parent entity includes objects of its subentities")
  func dumpOfAParentFindsTheChildren() throws {
    let objects = try #require(try inspection.json("dump", "Person") as? [[String: Any]])
    #expect(objects.compactMap { $0["entity"] as? String } == ["Employee", "Employee", "Employee"])
  }

  @Test("`dump` without a name includes the whole store")
  func dumpWithoutANameIsTheWholeStore() throws {
    let objects = try #require(try inspection.json("dump") as? [[String: Any]])
    #expect(objects.count == 5)
    #expect(try inspection.run("dump").output.hasSuffix("5 objects\n"))
  }

  @Test("`dump` accepts a predicate and a limit")
  func dumpTakesAPredicateAndALimit() throws {
    let elders = try inspection.json("dump", "Employee", "--where", "age > 40")
    #expect((elders as? [[String: Any]])?.count == 2)
    let one = try inspection.json("dump", "Employee", "--where", "age > 40", "--limit", "1")
    #expect((one as? [[String: Any]])?.compactMap { $0["id"] as? String } == ["Employee/2"])
    let hop = try inspection.json("dump", "Employee", "--where", "office.city ==[c] 'riga'")
    #expect((hop as? [[String: Any]])?.count == 3)
    let none = try inspection.run("dump", "Employee", "--where", "name == 'Alan'")
    #expect(none.status == 0)
    #expect(none.output == "0 objects\n")
  }

  @Test("An invalid predicate is explained")
  func aWrongPredicateIsExplained() throws {
    let misspelt = try inspection.run("dump", "Employee", "--where", "nmae == 'Ada'")
    #expect(misspelt.status == 1)
    #expect(misspelt.errors.contains("name"))
    #expect(try inspection.run("dump", "Employee", "--where", "age >").status == 1)
    #expect(try inspection.run("dump", "Employes", "--where", "age > 1").status == 1)
    #expect(try inspection.run("dump", "--where", "age > 1").status == 64)
  }

  @Test("Tables can be dumped raw")
  func tablesCanBeDumpedRaw() throws {
    let entries = try #require(try inspection.json("dump", "e/Employee") as? [[String: Any]])
    #expect(entries.count == 3)
    #expect(try inspection.run("get", "arbor", "header").output.contains("|ArborDB."))
  }

  @Test("`show` includes every relationship")
  func showFollowsEveryRelationship() throws {
    let shown = try #require(try inspection.json("show", "Office/1") as? [String: Any])
    let links = try #require(shown["relationships"] as? [String: [String]])
    #expect(links["employees"] == ["Employee/1", "Employee/2", "Employee/3"])
    let ada = try #require(try inspection.json("show", "Employee/1") as? [String: Any])
    let own = try #require(ada["relationships"] as? [String: Any])
    #expect(own["office"] as? String == "Office/1")
    #expect(own["projects"] as? [String] == ["Project/1"])
    let text = try inspection.run("show", "Employee/1").output
    #expect(text.contains("projects  1: Project/1"))
    #expect(text.contains("0xcafe00"))
  }

  @Test("Of a large binary value, only the length is shown")
  func ofALargeBinaryTheLengthIsShown() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Photos.arbor")
    let model = try ManagedObjectModel {
      EntityDescription("Photo") { AttributeDescription("image", .binary, .externalStorage) }
    }
    let manager = try DataManager(model: model, at: .file(url))
    try manager.insert("Photo")["image"] = Data(repeating: 7, count: 100_000)
    try manager.commit()
    manager.store.close()
    let inspection = Inspection(url)
    let shown = try #require(try inspection.json("show", "Photo/1") as? [String: Any])
    let values = try #require(shown["attributes"] as? [String: Any])
    #expect(values["image"] as? [String: Int] == ["bytes": 100_000])
    #expect(try inspection.run("show", "Photo/1").output.contains("{bytes: 100000}"))
    #expect(try inspection.run("dump", "b/Photo").status == 0)
    #expect(try inspection.run("tables").output.contains("b/Photo"))
    #expect(try inspection.run("check").status == 0)
  }

  @Test("An object can be given by its complete URI, if that is of the same store")
  func showTakesAWholeID() throws {
    let info = try #require(try inspection.json("info") as? [String: Any])
    let store = try #require(info["storeID"] as? String)
    #expect(try inspection.run("show", "arbor://\(store)/Project/1").status == 0)
    #expect(try inspection.run("show", "arbor://\(UUID())/Project/1").status != 0)
  }

  @Test(
    "`show` reports objects that don't exist",
    arguments: ["Employee/9", "Employes/1", "Employee", "Employee/x", "Person/1"])
  func showSaysWhatIsNotThere(object: String) throws {
    let outcome = try inspection.run("show", object)
    #expect(outcome.status == 1)
    #expect(outcome.output == "")
    #expect(!outcome.errors.isEmpty)
  }

  @Test("`schema` prints the model")
  func schemaIsTheModel() throws {
    let text = try inspection.run("schema", "--json").output
    #expect(try ManagedObjectModel(json: Data(text.utf8)) == office.model)
    let shown = try inspection.run("schema").output
    #expect(shown.contains("abstract entity Person"))
    #expect(shown.contains("entity Employee: Person"))
    #expect(shown.contains("elders: Employee where age > 40"))
    #expect(try inspection.run("schema", "Office").output.hasPrefix("entity Office"))
    #expect(try inspection.run("schema", "Ofice").errors.contains("Office"))
  }

  @Test("`check` finds no problem in a sound store")
  func checkFindsItSound() throws {
    let report = try #require(try inspection.json("check") as? [String: Any])
    #expect(report["records"] as? Int == 5)
    #expect(report["problems"] as? [String] == [])
  }

  @Test("`check` reports a damaged record")
  func aDamagedRecordIsAProblem() throws {
    // A byte of a name, whose change LMDB doesn't detect.
    var bytes = try Data(contentsOf: office.url)
    #expect(bytes.range(of: Data("Edsger".utf8)) != nil)
    while let range = bytes.range(of: Data("Edsger".utf8)) { bytes[range.lowerBound] = 0x45 ^ 1 }
    try bytes.write(to: office.url)
    let outcome = try inspection.run("check")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("Employee"))
  }

  @Test("`check` lists damage of records, indexes and links")
  func allDamageIsListed() throws {
    try Vandal.removeFirstEntries(
      ofIndex: ("Person", "name"), ofMembers: ("Project", "members"), path: office.url.path)
    var bytes = try Data(contentsOf: office.url)
    for text in ["ngström", "Riga"] {
      #expect(bytes.range(of: Data(text.utf8)) != nil)
      while let range = bytes.range(of: Data(text.utf8)) { bytes[range.lowerBound] ^= 1 }
    }
    try bytes.write(to: office.url)
    let report = try #require(try inspection.json("check") as? [String: Any])
    let problems = try #require(report["problems"] as? [String])
    func count(_ part: String) -> Int { problems.count { $0.contains(part) } }
    #expect(count("Project/1: ") == 1 && count("Office/1: ") == 1, "\(problems)")
    #expect(count("Employee/1 is missing from the index Person.name.") == 1, "\(problems)")
    #expect(count("Project/1.members doesn't have the member Employee/1,") == 1, "\(problems)")
    let text = try inspection.run("check")
    #expect(text.status == 1 && problems.allSatisfy(text.output.contains), "\(text)")
  }
}
