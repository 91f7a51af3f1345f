import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

/// Backing up a store in use, and restoring it.
@Suite struct PersistentStoreBackUpTests {
  private let folder: TemporaryFolder
  private let log: FolderLog

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
  }

  private func open(_ name: String = "a.arbor") throws -> PersistentStore {
    try PersistentStore(for: Office.classes, at: .path(folder.path(name)))
  }

  private func insert(_ name: String, _ store: PersistentStore) throws -> ObjectID {
    let context = store.makeContext()
    let company = context.insert(Company.self)
    company.name = name
    try context.commit()
    return company.objectID
  }

  private func names(_ name: String) throws -> [String?] {
    let store = try open(name)
    defer { store.close() }
    try store.check()
    let request = FetchRequest<Company>(sortKeys: ["name"])
    return try store.makeContext().fetch(request).map(\.name)
  }

  @Test("Each backup adds the commits since the previous one")
  func eachBackupAddsWhatIsNew() throws {
    let store = try open()
    let ada = try insert("Ada", store)
    #expect(try store.backUp(to: log) == .init(isSnapshot: true, commits: 0, sequence: 1))
    _ = try insert("Grace", store)
    _ = try insert("Barbara", store)
    #expect(try store.backUp(to: log) == .init(isSnapshot: false, commits: 2, sequence: 3))
    #expect(try store.backUp(to: log) == .init(isSnapshot: false, commits: 0, sequence: 3))
    #expect(
      try store.backUp(to: log, snapshot: true) == .init(isSnapshot: true, commits: 0, sequence: 3))
    store.close()
    let url = folder.url.appending(path: "b.arbor")
    #expect(try PersistentStore.restore(from: log, to: url, at: .sequence(2)) == 2)
    #expect(try names("b.arbor") == ["Ada", "Grace"])
    let restored = try open("b.arbor")
    defer { restored.close() }
    let context = restored.makeContext()
    let same = try context.object(with: ada) as? Company
    #expect(same?.name == "Ada")
    let error = #expect(throws: ArborError.self) {
      try PersistentStore.restore(from: log, to: url)
    }
    #expect(
      error?.message == "\(url.path) already exists and will not be overwritten. Choose another "
        + "path.")
  }

  @Test("The log contains the commits of every session, whichever one runs the backup")
  func aStoreThatIsClosedKeepsItsCommits() throws {
    var store = try open()
    try store.backUp(to: log)
    _ = try insert("Ada", store)
    store.close()
    store = try open()
    _ = try insert("Grace", store)
    try store.compact()
    #expect(try store.backUp(to: log) == .init(isSnapshot: false, commits: 2, sequence: 2))
    _ = try insert("Barbara", store)
    try store.endBackUp(to: log)
    #expect(try store.backUp(to: log).isSnapshot)
    try store.endBackUps()
    #expect(try store.backUp(to: log).isSnapshot)
    try store.check()
    store.close()
  }

  @Test("A backup after a change of the model starts with a snapshot")
  func aChangedModelBeginsASnapshot() throws {
    var store = try open()
    try store.backUp(to: log)
    _ = try insert("Ada", store)
    store.close()
    var model = store.model
    let index = try #require(model.entities.firstIndex { $0.name == "Company" })
    model.entities[index].attributes.append(
      AttributeDescription(name: "motto", type: .string, isOptional: true))
    store = try PersistentStore(model: model, at: .path(folder.path("a.arbor")))
    let context = store.makeContext()
    let company = try context.insert("Company")
    try company.setValue(.string("Grace"), forKey: "name")
    try company.setValue(.string("Onwards"), forKey: "motto")
    try context.commit()
    #expect(try store.backUp(to: log) == .init(isSnapshot: true, commits: 3, sequence: 3))
    store.close()
    // The states before and after the change can be restored, each with its model.
    let before = folder.url.appending(path: "before.arbor")
    #expect(try PersistentStore.restore(from: log, to: before, at: .sequence(1)) == 1)
    let former = try PersistentStore(at: .file(before))
    #expect(
      former.model.entity(named: "Company")?.attributes.contains { $0.name == "motto" } == false)
    try former.check()
    former.close()
    let after = folder.url.appending(path: "after.arbor")
    #expect(try PersistentStore.restore(from: log, to: after) == 3)
    let present = try PersistentStore(at: .file(after))
    #expect(
      present.model.entity(named: "Company")?.attributes.contains { $0.name == "motto" } == true)
    try present.check()
    present.close()
  }

  private func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "\(version)") {
      EntityDescription("Note") {
        AttributeDescription("number", .integer64)
        if version > 1 { AttributeDescription("slug", .string) }
      }
    }
  }

  @Test("Commits that wait for a backup survive a migration with code")
  func migrationWithCode() throws {
    let path = folder.path("a.arbor")
    var store = try PersistentStore(model: model(1), at: .path(path))
    func add(_ number: Int, slug: String? = nil) throws {
      let context = store.makeContext()
      let note = try context.insert("Note")
      note["number"] = number
      if let slug { note["slug"] = slug }
      try context.commit()
    }
    try add(1)
    try store.backUp(to: log)
    try add(2)
    try store.backUp(to: log)
    // Not backed up before the migration.
    try add(3)
    try add(4)
    store.close()
    Thread.sleep(forTimeInterval: 0.002)
    let before = Date()
    Thread.sleep(forTimeInterval: 0.002)
    var options = StoreOptions()
    options.modelVersions = [try model(1), try model(2)]
    options.migrationSteps = [
      MigrationStep(from: "1", to: "2") { migration in
        try migration.migrate("Note") { _, new in new["slug"] = "x" }
      }
    ]
    store = try PersistentStore(model: model(2), at: .path(path), options: options)
    try add(5, slug: "y")
    let added = try store.backUp(to: log)
    #expect(added == .init(isSnapshot: true, commits: 2, sequence: store.sequence))
    try log.verify()
    store.close()
    for (point, count) in [
      (RestorePoint.sequence(2), 2), (.sequence(3), 3), (.sequence(4), 4), (.date(before), 4),
      (.newest, 5),
    ] {
      let url = folder.url.appending(path: "\(UUID().uuidString).arbor")
      try PersistentStore.restore(from: log, to: url, at: point)
      let restored = try PersistentStore(at: .file(url))
      defer { restored.close() }
      #expect(try restored.makeContext().objects("Note").count() == count, "\(point)")
      #expect(restored.model.versionIdentifier == (count == 5 ? "2" : "1"))
      try restored.check()
    }
  }

  @Test("An in-memory store can be backed up")
  func aStoreInMemoryIsBackedUp() throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    _ = try insert("Ada", store)
    #expect(try store.backUp(to: log).isSnapshot)
    _ = try insert("Grace", store)
    #expect(try store.backUp(to: log) == .init(isSnapshot: false, commits: 1, sequence: 2))
    try store.check()
    store.close()
    try PersistentStore.restore(from: log, to: folder.url.appending(path: "b.arbor"))
    #expect(try names("b.arbor") == ["Ada", "Grace"])
  }

  @Test("A read-only store can't be backed up")
  func aStoreThatIsOnlyReadIsNotBackedUp() throws {
    try open().close()
    let path = folder.path("a.arbor")
    let store = try PersistentStore(
      for: Office.classes, at: .path(path), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    let error = #expect(throws: ArborError.self) { try store.backUp(to: log) }
    #expect(error?.code == .readOnly && error?.message.contains(path) == true, "\(error as Any)")
    #expect(!FileManager.default.fileExists(atPath: log.url.path), "Nothing is begun.")
  }
}
