import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestSupport
import Testing

@Suite struct PersistentStoreTests {
  @Test("A store contains its model and can be opened without one")
  func aStoreCarriesItsModel() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a b.arbor"))
    let first = try PersistentStore(for: Office.classes, at: location)
    let id = first.id
    let context = first.makeContext()
    context.insert(Employee.self).name = "Ada"
    try context.commit()
    let number = try first.uniqueIDs.next()
    first.close()
    let second = try PersistentStore(at: location, classes: Office.classes)
    defer { second.close() }
    #expect(
      second.id == id && second.model == first.model && second.url?.lastPathComponent == "a b.arbor"
    )
    #expect(try second.makeContext().fetchOne(Employee.self)?.name == "Ada")
    #expect(try second.uniqueIDs.next() > number)
    try second.check()
  }

  @Test("A path and a file URL open the same store")
  func aPathIsAsGoodAsAURL() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a b.arbor")
    let store = try PersistentStore(for: Office.classes, at: .path(folder.path("a b.arbor")))
    let same = try PersistentStore(for: Office.classes, at: .file(url))
    #expect(same.id == store.id && store.url == same.url)
    try store.check()
    store.close()
    same.close()
  }

  @Test("A store grows to maximumMapSize and no further", arguments: [nil, 1 << 20, 1 << 30])
  func largestFile(initial: Int?) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    var options = StoreOptions(initialMapSize: initial, maximumMapSize: 2 << 20)
    options.compactsWhenClosed = false
    let store = try PersistentStore(for: Office.classes, at: .path(path), options: options)
    let context = store.makeContext()
    var count = 0
    let error = #expect(throws: ArborError.self) {
      for _ in 0..<40 {
        for _ in 0..<200 {
          context.insert(Employee.self).name = String(repeating: "y", count: 400)
        }
        try context.commit()
        count += 200
      }
    }
    #expect(error?.message.contains("maximumMapSize") == true, "\(error as Any)")
    #expect(count > 0 && count < 8000)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(try #require(size) <= 2 << 20)
    #expect(try store.makeContext().count("Employee") == count)
    try store.check()
    store.close()
  }

  @Test("An immutable file is read without a lock file")
  func immutableFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    var options = StoreOptions()
    options.isImmutable = true
    #expect(
      try failure {
        _ = try PersistentStore(for: Office.classes, at: .path(path), options: options)
      }
      .code == .fileUnreadable)
    let made = try PersistentStore(for: Office.classes, at: .path(path))
    let context = made.makeContext()
    context.insert(Employee.self).name = "Ada"
    try context.commit()
    made.close()
    try FileManager.default.removeItem(atPath: path + "-lock")
    let bytes = try Data(contentsOf: URL(filePath: path))
    let store = try PersistentStore(for: Office.classes, at: .path(path), options: options)
    #expect(store.isReadOnly)
    let reading = store.makeContext()
    let ada = try #require(try reading.fetchOne(Employee.self))
    #expect(ada.name == "Ada")
    try reading.withSnapshot {
      let readers = try store.readers()
      #expect(readers.isEmpty)
    }
    #expect(try store.spaceUsage().file == bytes.count)
    try store.check()
    try store.scrub()
    ada.name = "Grace"
    #expect(try failure { try reading.commit() }.code == .readOnly)
    store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.arbor"])
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  @Test(
    "If an older copy overwrites or replaces the file, commits fail with a descriptive error",
    .timeLimit(.minutes(40)), arguments: [true, false])
  func aFileThatIsReplacedIsNamed(inPlace: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    let store = try PersistentStore(for: Office.classes, at: .path(path))
    let context = store.makeContext()
    context.insert(Employee.self).name = "Ada"
    try context.commit()
    let older = try Data(contentsOf: URL(filePath: path))
    for name in ["Bob", "Eve", "Mallory"] {
      context.insert(Employee.self).name = name
      try context.commit()
    }
    if inPlace {
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.write(contentsOf: older)
      try file.close()
      #expect(try failure { _ = try store.makeContext().count("Employee") }.code == .fileReplaced)
      #expect(try failure { try store.check() }.code == .fileReplaced)
    } else {
      try older.write(to: URL(filePath: folder.path("b")))
      #expect(rename(folder.path("b"), path) == 0)
      #expect(try store.makeContext().count("Employee") == 4)
    }
    context.insert(Employee.self).name = "lost"
    let error = try failure { try context.commit() }
    #expect(error.code == .fileReplaced)
    #expect(
      error.message
        == "\(path) was removed, replaced or overwritten by another program while it was open. "
        + "Nothing more will be written to it. Close the store wherever it is open, then reopen "
        + "it.")
    store.close()
    let copy = try PersistentStore(for: Office.classes, at: .path(path))
    defer { copy.close() }
    #expect(try copy.makeContext().fetch(Employee.self).map(\.name) == ["Ada"])
    try copy.check()
  }

  @Test("A read-only store refuses commits")
  func readOnlyStoresRefuseCommits() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a.arbor"))
    try PersistentStore(for: Office.classes, at: location).close()
    let store = try PersistentStore(
      for: Office.classes, at: location, options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    let context = store.makeContext()
    #expect(store.isReadOnly)
    context.insert(Employee.self)
    #expect(try failure { try context.commit() }.code == .readOnly)
  }

  @Test("Missing files and files that aren't stores are rejected")
  func missingAndForeignFilesAreNamed() throws {
    let folder = try TemporaryFolder()
    let missing = try failure {
      _ = try PersistentStore(at: .file(folder.url.appending(path: "none.arbor")))
    }
    #expect(missing.code == .fileUnreadable)
    let text = folder.url.appending(path: "text.arbor")
    try Data("no store".utf8).write(to: text)
    #expect(
      try failure { _ = try PersistentStore(for: Office.classes, at: .file(text)) }.code
        == .notAStore)
    #expect(try Data(contentsOf: text) == Data("no store".utf8))
  }

  @Test("Another model is rejected with its differences, or replaces the store")
  func anotherModelIsRefusedWithItsDifferences() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a.arbor"))
    let former = try PersistentStore(for: Office.classes, at: location)
    let context = former.makeContext()
    context.insert(Company.self).name = "Foo"
    try context.commit()
    former.close()
    let other = try ManagedObjectModel {
      EntityDescription("Other") { AttributeDescription("x", .string, .optional) }
    }
    let error = try failure { _ = try PersistentStore(model: other, at: location) }
    #expect(error.code == .modelMismatch && !error.violations.isEmpty)
    let store = try PersistentStore(
      model: other, at: location, options: StoreOptions(onMismatch: .eraseAndRecreate))
    #expect(store.model.entities.map(\.name) == ["Other"])
    store.close()
  }

  @Test("Indexes are built, listed and checked for duplicates")
  func indexesAreBuiltListedAndValidated() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a.arbor"))
    func model(_ indexes: [FetchIndexDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Tag", fetchIndexes: indexes) {
          AttributeDescription("name", .string, .optional)
        }
      }
    }
    let first = try PersistentStore(model: model([]), at: location)
    let context = first.makeContext()
    let ids = try ["Ada", "ADA"].map { name in
      let tag = try context.insert("Tag")
      tag["name"] = name
      return tag.objectID
    }
    try context.commit()
    #expect(try first.indexes() == [])
    first.close()
    let folded = FetchIndexDescription(name: "folded", elements: [.init("name", kind: .folded)])
    var once = folded
    once.isUnique = true
    let error = try failure { _ = try PersistentStore(model: model([once]), at: location) }
    #expect(error.code == .modelMismatch && error.violations.count == 1)
    #expect(error.violations[0].objectID.map(ids.contains) == true)
    #expect(
      error.violations[0].message
        == "Tag.name becomes unique, but there are 2 objects (Tag 1, Tag 2) with equal values. Change "
        + "the values with the former model, or use a MigrationStep to change them.")
    let refused = try failure {
      _ = try PersistentStore(
        model: model([folded]), at: location, options: StoreOptions(migration: .refuse))
    }
    #expect(refused.code == .modelMismatch)
    #expect(
      refused.violations.map(\.message)
        == ["Tag: the index folded is added: (folded name) (builds an index)"])
    let store = try PersistentStore(model: model([folded]), at: location)
    defer { store.close() }
    #expect(try store.indexes().map(\.entries) == [2])
    #expect(try store.indexes().map(\.columns) == [[.init("name", kind: .folded)]])
    try store.check()
  }

  @Test("A purge removes all objects but never reuses their numbers")
  func purgeEmptiesAndCountsOn() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      let id = ada.objectID
      try context.commit()
      let unique = try store.uniqueIDs.next()
      try store.purge()
      #expect(try context.count("Person") == 0)
      #expect(ada.isDeleted && ada.context == nil)
      #expect(context.insert(Employee.self).objectID.number > id.number)
      #expect(try store.uniqueIDs.next() > unique)
      try context.commit()
    }
  }

  @Test("Destroying a store removes its files and those of migrations")
  func destroyRemovesTheFiles() throws {
    let folder = try TemporaryFolder()
    let store = try PersistentStore(
      for: Office.classes, at: .file(folder.url.appending(path: "a.arbor")))
    // Files that migrations keep, or leave when killed. Other files are not touched.
    let others = ["a.arbor.txt", "b.arbor-before"]
    let suffixes = [
      "before", "before-lock", "swap", "migration-new", "migration-1", "migration-1-lock",
    ]
    for name in suffixes.map({ "a.arbor-\($0)" }) + ["a.arbor-migration-3"] + others {
      try Data([1]).write(to: folder.url.appending(path: name))
    }
    try store.destroy()
    for name in others {
      try FileManager.default.removeItem(at: folder.url.appending(path: name))
    }
    #expect(store.isClosed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    #expect(try failure { try store.destroy() }.code == .closed)
  }

  @Test("Opening a store removes the lock file of a killed migration")
  func anOpeningRemovesTheLockThatAKilledMigrationHasLeft() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "a.arbor")
    let lock = folder.path("a.arbor-migration-lock")
    let open = { try PersistentStore(for: Office.classes, at: .file(file)) }
    try open().close()
    try Data().write(to: URL(filePath: lock))
    let store = try open()
    #expect(!FileManager.default.fileExists(atPath: lock))
    try store.check()
    store.close()
    // A lock held by a migrating process is kept.
    let held = try MigrationLock(MigrationFiles(path: file.path))
    try open().close()
    #expect(FileManager.default.fileExists(atPath: lock))
    held.end()
    #expect(!FileManager.default.fileExists(atPath: lock))
  }

  @Test("A class that contradicts the model is rejected")
  func classesThatContradictTheModelAreRefused() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Company") { AttributeDescription("name", .integer64, .optional) }
    }
    let error = try failure {
      _ = try PersistentStore(model: model, at: .inMemory, classes: [Company.self])
    }
    #expect(error.code == .modelMismatch && error.keyPath == "name" && error.entity == "Company")
  }
}

@Suite struct PersistentStorePerformTests {
  private func open() throws -> PersistentStore {
    try PersistentStore(for: Office.classes, at: .inMemory)
  }

  @Test("A body commits its changes and returns a value")
  func bodiesCommitAndReturnValues() async throws {
    let store = try open()
    let id = try await store.perform { context in
      let ada = context.insert(Employee.self)
      ada.name = "Ada"
      return ada.objectID
    }
    try await store.performBackground { context in
      let ada = try context.existingObject(with: id)
      ada["name"] = "Eve"
    }
    let name = try store.performBackgroundAndWait { context in
      try context.existingObject(with: id)["name"] as String
    }
    #expect(name == "Eve")
    try store.check()
    store.close()
  }

  @Test("A body that throws commits nothing")
  func failedBodiesCommitNothing() async throws {
    let store = try open()
    await #expect(throws: Interruption.self) {
      try await store.perform { context in
        context.insert(Employee.self)
        throw Interruption()
      }
    }
    await #expect(throws: Interruption.self) {
      try await store.performBackground { context in
        context.insert(Employee.self)
        throw Interruption()
      }
    }
    await #expect(throws: ArborError.self) {
      try await store.performBackground { context in
        try context.insert(Company.self).setValue(.null, forKey: "name")
      }
    }
    let count = try await store.performBackground { try $0.count("Person") + $0.count("Company") }
    #expect(count == 0)
    store.close()
  }

  @Test("Concurrent bodies lose no change")
  func manyAtOnceLoseNothing() async throws {
    let store = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<100 {
        group.addTask {
          try await store.perform { context in
            context.insert(Employee.self).employeeID = Int64(index)
          }
          if index % 5 == 0 {
            try await store.performBackground { context in
              let mine = try context.fetchOne(Employee.self, matching: "employeeID == \(index)")
              mine?.age = 99
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = store.makeContext()
    #expect(try context.count(Employee.self) == 100)
    #expect(try context.count(Employee.self, matching: "age == 99") == 20)
    try store.check()
    store.close()
  }

  @Test("A background body can't wait for another one")
  func aBackgroundBodyCannotWaitForItself() async throws {
    let store = try open()
    let code = try await store.performBackground { _ in
      do {
        try store.performBackgroundAndWait { _ in }
        return "none"
      } catch let error as ArborError {
        return error.code.rawValue
      }
    }
    #expect(code == "notAllowed")
    store.close()
  }

  @Test("The background context is named")
  func theBackgroundContextKeepsItsName() async throws {
    let store = try open()
    let names = try await [
      store.performBackground { $0.name }, store.performBackground { $0.name },
    ]
    #expect(names == ["background", "background"])
    store.close()
  }
}
