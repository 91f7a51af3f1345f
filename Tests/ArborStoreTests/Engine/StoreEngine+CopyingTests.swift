import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Copying and compacting a store.
@Suite struct StoreEngineCopyingTests {
  private func insert(_ names: Range<Int>, _ file: StoreEngine) throws {
    let draft = Draft(file)
    for name in names { try draft.insert("Tag", ["name": .string("tag number \(name)")]) }
    try draft.commit()
  }

  private func count(_ file: StoreEngine) throws -> Int {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let entity = try #require(file.schema.entity(named: "Tag"))
    return try snapshot.count(StoreQuery(entity: entity), overlay: nil)
  }

  private func size(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  private func header(_ file: StoreEngine) throws -> HeaderRecord {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try StoreHeader.read(snapshot.reader)
  }

  private func text(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "nothing"
  }

  @Test("A store is compacted in place and remains usable")
  func compactsInPlaceAndGoesOn() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      try insert(0..<3000, file)
      try file.purge()
      try insert(3000..<3010, file)
      let (before, large) = (try header(file), try size(store.path))
      let sequence = file.lastSequence
      try file.compact()
      let after = try header(file)
      #expect(try size(store.path) < large / 3)
      #expect(after.transactionID > before.transactionID)
      #expect((after.sequence, after.modelGeneration) == (before.sequence, before.modelGeneration))
      #expect(after.storeID == before.storeID && after.latestCommits == before.latestCommits)
      #expect(file.lastSequence == sequence)
      #expect(try count(file) == 10)
      try insert(3010..<3020, file)
      #expect(file.lastSequence == sequence + 1)
      #expect(try count(file) == 20)
      try store.check()
      // Repeatedly, with commits in between.
      for round in 0..<4 {
        try file.compact()
        if round % 2 == 0 { try file.purge() }
        try insert(round * 10..<round * 10 + 5, file)
      }
      #expect(try count(file) == 10)
      try store.reopen()
      #expect(try count(store.file) == 10)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path).sorted()
          == ["test.arbor", "test.arbor-lock"])
    }
  }

  @Test("After a compaction, listeners are still notified of commits by other processes")
  func whoListensHearsOfOtherProcessesAfterwards() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    defer { file.close() }
    let heard = DispatchSemaphore(value: 0)
    let listener = file.notifications.listen(to: file) { heard.signal() }
    defer { file.notifications.remove(listener) }
    try file.compact()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      try file.purge()
      file.close()
    }
    #expect(heard.wait(timeout: .now() + 30) == .success)
    #expect(file.lastSequence == 1)
    try TemporaryStore.check(path: path)
  }

  @Test("Compaction throws while the store is in use, migrating, or read-only")
  func saysWhyItDoesNotCompact() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    try insert(0..<3, file)
    do {
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      #expect(text { try file.compact() } == "inUse(path: Optional(\"\(path)\"))")
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      defer { file.close() }
      #expect(throws: StoreError.self) { try file.compact() }
      #expect(try file.check().isSound)
    }
    let marker = MigrationMarker(
      plan: 1, target: ModelFingerprint(bits: 2), generation: 1, began: Date())
    try file.setMigrationMarker(marker)
    #expect(text { try file.compact() }.hasPrefix("migrationUnderWay"))
    try file.removeMigrationMarker()
    try file.compact()
    #expect(try count(file) == 3)
    file.close()
    #expect(text { try file.compact() } == "closed")
    #expect(text { try file.copy(to: path + "-copy", compacting: true) } == "closed")
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = true
    let reading = try StoreEngine.open(opening)
    #expect(text { try reading.compact() } == "readOnly(path: Optional(\"\(path)\"))")
    try reading.copy(to: folder.path("copy"), compacting: false)
    reading.close()
    try TemporaryStore.check(path: folder.path("copy"))
    try TemporaryStore.check(path: path)
  }

  @Test("An in-memory store can be copied to a file")
  func aStoreInMemoryIsCopiedIntoAFile() throws {
    let folder = try TemporaryFolder()
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      try insert(0..<5, store.file)
      try store.file.compact()
      for isCompacting in [false, true] {
        let path = folder.path("copy-\(isCompacting)")
        try store.file.copy(to: path, compacting: isCompacting)
        let copy = try StoreEngine.open(StoreOpening(.file(path), model: nil))
        #expect(try count(copy) == 5)
        #expect(copy.id == store.file.id)
        try insert(5..<7, copy)
        copy.close()
        try TemporaryStore.check(path: path)
      }
      #expect(try count(store.file) == 5)
    }
  }

  @Test("Copying never overwrites an existing file or folder")
  func copiesOverNothing() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path)
      for target in [store.path, store.folder.url.path] {
        #expect(
          text { try file.copy(to: target, compacting: false) }
            == "inputOutput(operation: \"copy\", path: Optional(\"\(target)\"), errno: \(EEXIST))")
      }
      let missing = store.folder.path("no/copy")
      #expect(
        text { try file.copy(to: missing, compacting: true) }
          == "inputOutput(operation: \"copy\", path: Optional(\"\(missing)\"), errno: \(ENOENT))")
      #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path) == names)
    }
  }

  @Test("A copy keeps the migration marker only on request, and is writable without it")
  func aCopyIsNotBeingMigrated() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let marker = MigrationMarker(
        plan: 1, target: ModelFingerprint(bits: 2), generation: 1,
        began: Date(timeIntervalSinceReferenceDate: 8))
      try store.file.setMigrationMarker(marker)
      for (number, keepsMarker) in [true, false].enumerated() {
        for isCompacting in [false, true] {
          let path = store.folder.path("copy-\(number)-\(isCompacting)")
          try store.file.copy(to: path, compacting: isCompacting, keepsMarker: keepsMarker)
          var opening = StoreOpening(.file(path), model: nil)
          opening.isReadOnly = keepsMarker
          let copy = try StoreEngine.open(opening)
          #expect(try copy.migrationMarker() == (keepsMarker ? marker : nil))
          if !keepsMarker { try insert(0..<1, copy) }
          copy.close()
          try TemporaryStore.check(path: path)
        }
      }
      try store.file.removeMigrationMarker()
    }
  }
}
