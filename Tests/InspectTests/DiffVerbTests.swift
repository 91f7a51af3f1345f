import ArborData
import CLMDB
import Foundation
import TestSupport
import Testing

/// Differences between two files.
@Suite struct DiffVerbTests {
  private let office: OfficeStore
  private let copy: URL

  init() throws {
    office = try OfficeStore()
    copy = office.folder.url.appending(path: "Copy.arbor")
    let store = try PersistentStore(at: .file(office.url))
    try store.copy(to: copy)
    store.close()
  }

  private func diff(_ options: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(["diff", office.url.path, copy.path] + options)
  }

  private func change(_ body: (ManagedObjectContext) throws -> Void) throws {
    let store = try PersistentStore(at: .file(copy))
    defer { store.close() }
    let context = store.makeContext()
    try body(context)
    try context.commit()
  }

  @Test("Copies do not differ")
  func copiesDoNotDiffer() throws {
    let same = try diff()
    #expect(same.status == 0 && same.output == "no differences\n", "\(same)")
    #expect(try diff("--json").output == "[]\n")
  }

  @Test("Objects are compared by identity")
  func objectsAreComparedByIdentity() throws {
    try change { context in
      let ada = try #require(try context.fetchOne("Employee", matching: "name == 'Ada'"))
      ada["age"] = 37
      ada["born"] = nil
      ada["photo"] = Data([1, 2])
      let grace = try #require(try context.fetchOne("Employee", matching: "name == 'Grace'"))
      let project = try #require(try context.fetchOne("Project", matching: "title != ''"))
      try grace.setValue(.list([.objectID(project.objectID)]), forKey: "projects")
      let edsger = try #require(try context.fetchOne("Employee", matching: "name == 'Edsger'"))
      context.delete(edsger)
      try context.insert("Project")["title"] = "new"
    }
    let outcome = try diff("--json")
    #expect(outcome.status == 1)
    let list = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
    let kinds = Dictionary(grouping: list) { $0["change"] as? String ?? "" }
    #expect(kinds["gone"]?.count == 1 && kinds["added"]?.count == 1)
    let gone = try #require(kinds["gone"]?.first?["object"] as? [String: Any])
    #expect((gone["attributes"] as? [String: Any])?["name"] as? String == "Edsger")
    let changed = try #require(kinds["changed"])
    func properties(_ entity: String, with name: String) -> [String: [String: Any]]? {
      changed.filter { ($0["id"] as? String)?.hasPrefix(entity) == true }
        .compactMap { $0["properties"] as? [String: [String: Any]] }.first { $0[name] != nil }
    }
    let ada = try #require(properties("Employee", with: "age"))
    #expect(Set(ada.keys) == ["age", "born", "photo"])
    #expect(ada["age"]?["before"] as? Int == 36 && ada["age"]?["after"] as? Int == 37)
    #expect(ada["born"]?["after"] is NSNull)
    // Both sides of a relationship that is stored at both, and the order from which a member was
    // removed.
    #expect(properties("Employee", with: "projects") != nil)
    #expect(properties("Project", with: "members") != nil)
    #expect(properties("Office", with: "employees") != nil)
    let text = try diff().output
    #expect(text.hasSuffix("\n1 added, 1 removed, 4 changed\n"), "\(text)")
    #expect(text.contains("age: 36 → 37") && text.contains(/\n\+ Project\/\d+  title="new"/))
    // Objects have labels.
    #expect(
      text.contains("~ Employee/2 “Grace”  projects: 0: [] → 1: [Project/1 “Ångström \"two\"”]\n"),
      "\(text)")
    #expect(
      text.contains("members: 1: [Employee/1 “Ada”] → 2: [Employee/1 “Ada”, Employee/2 “Grace”]\n"),
      "\(text)")
  }

  @Test("An error about damage names the damaged file", arguments: [true, false])
  func damageNamesItsFile(isFirst: Bool) throws {
    let damaged = isFirst ? office.url : copy
    var bytes = try Data(contentsOf: damaged)
    let title = try #require(bytes.range(of: Data("ngström".utf8)))
    bytes[title.lowerBound] ^= 1
    try bytes.write(to: damaged)
    let outcome = try diff("--json")
    #expect(outcome.status == 2)
    #expect(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) is [Any])
    let text = try diff()
    #expect(text.errors.hasPrefix("lmdb-inspect: \(damaged.path): The store is damaged"), "\(text)")
  }

  /// Objects that are read in several batches, and numbers at both ends that only one store has.
  @Test("Many objects are compared in batches")
  func manyObjectsAreReadSideBySide() throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<2500 { try context.insert("Project")["title"] = "old \(number)" }
    try context.commit()
    store.close()
    try FileManager.default.removeItem(at: copy)
    let source = try PersistentStore(at: .file(office.url))
    try source.copy(to: copy)
    source.close()
    try change { context in
      let some = try context.fetch(
        FetchRequest<ManagedObject>(
          entity: "Project", predicate: "title ENDSWITH '7' AND title BEGINSWITH 'old'"))
      for project in some { context.delete(project) }
      let others = try context.fetch(
        FetchRequest<ManagedObject>(entity: "Project", predicate: "title ENDSWITH '88'"))
      for project in others { project["title"] = "changed" }
      for number in 0..<1200 { try context.insert("Project")["title"] = "new \(number)" }
    }
    let text = try diff().output
    #expect(text.hasSuffix("\n1200 added, 250 removed, 25 changed\n"), "\(text.suffix(80))")
  }

  @Test("Stores with different models are compared")
  func otherModelsAreCompared() throws {
    try FileManager.default.removeItem(at: copy)
    var model = try OfficeStore.makeModel()
    model.entities[2].attributes.append(
      AttributeDescription(name: "floor", type: .integer16, defaultValue: 1))
    model.entities.append(
      EntityDescription(
        name: "Visitor", attributes: [AttributeDescription(name: "name", type: .string)]))
    let store = try PersistentStore(model: model, at: .file(copy))
    let context = store.makeContext()
    try context.insert("Visitor")["name"] = "Alan"
    try context.commit()
    store.close()
    let text = try diff().output
    #expect(text.contains("! Office.floor  only in the second store\n"))
    #expect(text.contains("! Visitor  only in the second store\n"))
    #expect(text.contains("+ Visitor/1  name=\"Alan\"\n"))
    #expect(text.hasSuffix("\n1 added, 5 removed, 2 in the model\n"), "\(text)")
  }

  @Test("Files of other programs are compared by key")
  func anyFilesAreComparedByKey() throws {
    let one = try ForeignFile()
    let other = try ForeignFile()
    defer {
      one.remove()
      other.remove()
    }
    func diff() throws -> BuiltProgram.Outcome {
      try Inspection.program.run(["diff", one.folder.path, other.folder.path])
    }
    #expect(try diff().status == 0)
    try other.write { transaction in
      let words = try ForeignFile.open(transaction, "words", 0)
      try ForeignFile.put(transaction, words, Array("apple".utf8), Array("Birne".utf8))
      try ForeignFile.put(transaction, words, Array("zebra".utf8), Array("Zebra".utf8))
      let sets = try ForeignFile.open(transaction, "sets", 0)
      try ForeignFile.put(
        transaction, sets, ForeignFile.bytes(UInt64(5)), ForeignFile.bytes(UInt64(15)))
      let numbers = try ForeignFile.open(transaction, "numbers", 0)
      try ForeignFile.check(mdb_drop(transaction, numbers, 0), "drop")
      _ = try ForeignFile.open(transaction, "more", MDB_CREATE)
    }
    let outcome = try diff()
    #expect(outcome.status == 1)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.last == "2 added, 2 removed, 1 changed, 1 in the model")
    #expect(lines.contains("! more  only in the second file"))
    #expect(lines.contains { $0.hasPrefix("~ words  ") && $0.contains(" → ") })
    #expect(lines.contains("+ sets  5  15"))
  }

  @Test("The error names the file that can't be read")
  func saysWhichFileCannotBeRead() throws {
    let outcome = try Inspection.program.run(["diff", office.url.path, "/nowhere"])
    #expect(outcome.status == 2 && outcome.errors.hasPrefix("lmdb-inspect: /nowhere: "))
  }
}
