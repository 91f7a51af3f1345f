import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct StoreEngineTests {
  @Test(
    "Committed objects and links are read back, also after reopening a file",
    arguments: [false, true])
  func keepsWhatIsCommitted(inMemory: Bool) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: inMemory) { store in
      let draft = Draft(store.file)
      let company = try draft.insert("Company", ["name": "Foo Inc."])
      let ada = try draft.insert(
        "Employee", ["name": "Ada", "employeeID": 1], to: ["company": company])
      let receipt = try draft.commit()
      #expect(receipt.sequence == 1)
      #expect(company.sequence == 1 && ada.sequence == 1)
      #expect(try draft.value(ada, "name") == "Ada")
      #expect(try draft.value(ada, "age") == 18)
      #expect(try draft.members(company, "employees") == [ada])
      if !inMemory {
        try store.reopen()
        let again = Draft(store.file)
        #expect(try again.value(ada, "name") == "Ada")
        #expect(try again.members(company, "employees") == [ada])
        #expect(store.file.lastSequence == 1)
      }
    }
  }

  @Test("Committing an empty change set starts no transaction")
  func anEmptySetCostsNothing() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let before = try store.file.environment.lastTransactionID
      #expect(try store.file.commit(ChangeSet()).sequence == 0)
      #expect(try store.file.environment.lastTransactionID == before)
    }
  }

  @Test("Object IDs identify objects of this store and no others")
  func namesObjectsForOthers() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      let id = store.file.objectID(tag)
      #expect(id.description == "arbor://\(store.file.id.uuidString.lowercased())/Tag/1")
      #expect(try store.file.objectNumber(id) == tag)
      let foreign = [
        ObjectID(storeID: UUID(), entityName: "Tag", number: 1),
        ObjectID(storeID: store.file.id, entityName: "Nobody", number: 1),
        ObjectID(storeID: store.file.id, entityName: "Person", number: 1),
      ]
      for other in foreign {
        do {
          _ = try store.file.objectNumber(other)
          Issue.record("\(other) has a number.")
        } catch StoreError.foreignObject {}
      }
    }
  }

  @Test("A commit by another process is noticed, and the next commit follows it")
  func noticesOtherProcesses() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      try Vandal(file: file).write { transaction, header in
        header.sequence += 1
        let entry = HistoryEntry(
          sequence: header.sequence, date: Date(), author: "other", contextName: nil,
          isBulk: true, changes: [])
        let hasRoom = header.latestCommits.append(HistoryCodec.encode(entry, file.schema))
        #expect(hasRoom)
      }
      #expect(file.lastSequence == 0)
      #expect(try file.refreshSequence() == 1)
      #expect(file.lastSequence == 1)
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "mine"])
      #expect(try draft.commit().sequence == 2)
    }
  }

  @Test("Commits and snapshots fail after another process has migrated the store")
  func refusesAStoreThatGotAnotherModel() throws {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "mine"])
    try Vandal(file: file).write { _, header in header.modelGeneration += 1 }
    for attempt in [{ _ = try draft.commit() }, { try file.snapshot().close() }] {
      do {
        try attempt()
        Issue.record("passed")
      } catch StoreError.modelChanged {}
    }
  }

  @Test("A purge removes all objects but keeps the store's ID and its counters")
  func purgesEverythingButItsIdentity() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      let id = store.file.id
      for round in 0..<50 {
        let company = try draft.insert("Company", ["name": .string("\(round)")])
        let ada = try draft.insert(
          "Employee", ["employeeID": .integer(Int64(round))], to: ["company": company])
        let tag = try draft.insert("Tag", ["name": "x"])
        try draft.link(ada, "tags", tag)
      }
      try draft.commit()
      try store.file.purge()
      let report = try store.file.check()
      #expect(report.recordCount == 0 && report.indexEntryCount == 0 && report.linkCount == 0)
      #expect(store.file.lastSequence == 2)
      let tag = try draft.insert("Tag", ["name": "again"])
      try draft.commit()
      #expect(tag.sequence == 51)
      try store.reopen()
      #expect(store.file.id == id)
    }
  }

  @Test("Destroying a store removes its files, unless it is open elsewhere")
  func destroysItsFiles() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    let opening = StoreOpening(.file(path), model: try OfficeModel.make())
    let file = try StoreEngine.open(opening)
    let other = try StoreEngine.open(opening)
    do {
      try file.destroy()
      Issue.record("destroyed under another's feet")
    } catch StoreError.inUse {}
    other.close()
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "still there"])
    try draft.commit()
    try file.destroy()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    #expect(throws: StoreError.self) { try file.snapshot() }
    // The path is available for a new store.
    let new = try StoreEngine.open(opening)
    #expect(new.id != file.id && new.lastSequence == 0)
    new.close()
  }

  @Test("A copy of a store contains its objects", arguments: [false, true])
  func copiesItself(compacting: Bool) throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      let tag = try draft.insert("Tag", ["name": "copied"])
      try draft.commit()
      let target = store.folder.path("copy.arbor")
      try store.file.copy(to: target, compacting: compacting)
      let copy = try StoreEngine.open(StoreOpening(.file(target), model: nil))
      #expect(try Draft(copy).value(tag, "name") == "copied")
      copy.close()
      try TemporaryStore.check(path: target)
    }
  }

  @Test("Every operation on a closed engine throws")
  func everythingIsRefusedOnceItIsClosed() throws {
    let file = try StoreEngine.open(StoreOpening(.inMemory, model: OfficeModel.make()))
    let draft = Draft(file)
    let tag = try draft.insert("Tag", ["name": "x"])
    let entity = try draft.entity("Tag")
    file.close()
    file.close()
    for attempt in [
      { _ = try draft.commit() }, { try file.snapshot().close() }, { try file.purge() },
      { _ = try file.takeNumbers(1000, for: entity) }, { _ = try file.check() },
      { _ = try file.metadata("x") }, { _ = try file.refreshSequence() },
    ] {
      do {
        try attempt()
        Issue.record("passed")
      } catch StoreError.closed {}
    }
    #expect(file.objectID(tag).number == 1)
  }
}
