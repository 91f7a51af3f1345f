import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// A store that is being migrated in a copy, which can be read but not written.
@Suite struct MigrationMarkerTests {
  private let marker = MigrationMarker(
    plan: 7, target: ModelFingerprint(bits: 8), generation: 1,
    began: Date(timeIntervalSinceReferenceDate: 800_000_000))

  private func expectUnderWay(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("Nothing was refused.")
    } catch StoreError.migrationUnderWay(let found) {
      #expect(found == marker)
    } catch {
      Issue.record(error)
    }
  }

  @Test("During a migration, writers are rejected and readers continue")
  func writersAreRefusedAndReadersGoOn() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "before"])
      try draft.commit()
      #expect(try file.migrationMarker() == nil)
      try file.setMigrationMarker(marker)
      #expect(try file.migrationMarker() == marker)
      #expect(try file.check().isSound)
      try draft.insert("Tag", ["name": "meanwhile"])
      expectUnderWay { try draft.commit() }
      expectUnderWay { try file.purge() }
      var opening = StoreOpening(.file(store.path), model: try OfficeModel.make())
      expectUnderWay { try StoreEngine.open(opening).close() }
      opening.isReadOnly = true
      let reading = try StoreEngine.open(opening)
      let snapshot = try reading.snapshot()
      #expect(snapshot.sequence == 1)
      snapshot.close()
      reading.close()
      try file.removeMigrationMarker()
      #expect(try file.migrationMarker() == nil)
      let later = Draft(file)
      try later.insert("Tag", ["name": "after"])
      try later.commit()
    }
  }

  @Test("A migration marker stays in the file until the migration removes it")
  func theMarkerStaysInTheFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("office.arbor")
    let model = try OfficeModel.make()
    var opening = StoreOpening(.file(path), model: model)
    try {
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      try file.setMigrationMarker(marker)
    }()
    expectUnderWay { try StoreEngine.open(opening).close() }
    // Only the migration itself may change the model.
    opening.model = try ManagedObjectModel {
      EntityDescription("Tag") { AttributeDescription("name", .string, .optional) }
    }
    opening.migration = .lightweight(dropping: nil)
    expectUnderWay { try StoreEngine.open(opening).close() }
    opening.isMigrating = true
    try {
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      #expect(file.modelGeneration == 2)
      #expect(try file.migrationMarker() == marker)
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "migrated"])
      try draft.commit()
      try file.removeMigrationMarker()
    }()
    opening.isMigrating = false
    try StoreEngine.open(opening).close()
    try TemporaryStore.check(path: path)
  }

  @Test("A marker can't be replaced by that of another migration plan")
  func anotherPlanDoesNotReplaceIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      try store.file.setMigrationMarker(marker)
      let other = MigrationMarker(
        plan: 9, target: marker.target, generation: 1, began: Date())
      expectUnderWay { try store.file.setMigrationMarker(other) }
      let same = MigrationMarker(plan: 7, target: marker.target, generation: 1, began: Date())
      try store.file.setMigrationMarker(same)
      #expect(try store.file.migrationMarker() == marker)
      try store.file.removeMigrationMarker()
      // Without a marker, nothing is written.
      let last = try store.file.environment.lastTransactionID
      try store.file.removeMigrationMarker()
      #expect(try store.file.environment.lastTransactionID == last)
    }
  }

  @Test("Inconsistencies between the header and the marker, and damage of the marker, are reported")
  func damageIsFound() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let vandal = Vandal(file: store.file)
      try vandal.write { _, header in header.isBeingMigrated = true }
      #expect(try store.file.check().problems.map(\.kind) == [.header])
      #expect(throws: StoreError.self) { try store.file.migrationMarker() }
      try store.file.removeMigrationMarker()
      let bytes = marker.encoded()
      #expect(bytes.withUnsafeBytes { MigrationMarker($0) } == marker)
      for index in bytes.indices {
        var changed = bytes
        changed[index] ^= 1
        #expect(changed.withUnsafeBytes { MigrationMarker($0) } == nil)
      }
    }
  }
}
