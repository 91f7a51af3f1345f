import ArborLog
import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

/// Reverting and confirming migrations of stores that share or back up their commits.
@Suite struct PersistentStoreRevertingTests {
  private let folder: TemporaryFolder
  private let log = SimulatedLog()

  init() throws { folder = try TemporaryFolder() }

  @Test("Confirming a migration also confirms it for followers, backups and restored stores")
  func aConfirmedMigrationIsConfirmedForAll() throws {
    func model(_ names: [String]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Book") {
          for name in names { AttributeDescription(name, .string, .optional) }
        }
      }
    }
    let options = StoreOptions(migration: .automatic(dropping: .everythingRemoved))
    let backup = FolderLog(folder.url.appending(path: "backup"))
    try PersistentStore(model: model(["title", "note"]), at: .path(folder.path("a.arbor"))).close()
    let plain = try PersistentStore(
      model: model(["title"]), at: .path(folder.path("a.arbor")), options: options)
    try plain.backUp(to: backup)
    plain.close()
    let (a, b) = (try follow("a", model(["title"])), try follow("b", model(["title"])))
    defer { for store in [a, b] { store.close() } }
    #expect(try a.engine.keepsFormerModel && b.engine.keepsFormerModel)
    let sequence = a.sequence
    try a.confirmMigration()
    #expect(a.sequence == sequence + 1)
    try a.confirmMigration()
    #expect(try b.catchUp() == sequence + 1)
    try a.backUp(to: backup)
    let restored = folder.url.appending(path: "restored.arbor")
    for point in [RestorePoint.sequence(sequence), .newest] {
      try PersistentStore.restore(from: backup, to: restored, at: point)
      let store = try PersistentStore(at: .file(restored))
      #expect(try store.engine.keepsFormerModel == (point != .newest))
      try store.check()
      try store.destroy()
    }
    for store in [a, b] {
      #expect(try !store.engine.keepsFormerModel)
      try store.check()
    }
  }

  private func follow(_ name: String, _ model: ManagedObjectModel) throws -> PersistentStore {
    try PersistentStore(
      model: model, at: .path(folder.path("\(name).arbor")), following: log, every: .seconds(3600))
  }
}
