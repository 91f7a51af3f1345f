import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

/// The data of a store's former model, kept until a migration is confirmed.
@Suite struct FormerModelTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("a.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func model(_ names: [String]) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: names.map {
        EntityDescription(
          name: $0,
          attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)])
      })
  }

  private func open(_ names: [String]) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model(names))
    opening.migration = .lightweight(dropping: nil)
    return try StoreEngine.open(opening)
  }

  /// Returns a store that was migrated to a model without an entity that has objects.
  private func migrated() throws -> StoreEngine {
    let file = try open(["A", "B"])
    let draft = Draft(file)
    try draft.insert("B", ["name": "kept"])
    try draft.commit()
    file.close()
    return try open(["A"])
  }

  @Test("A former model survives a round trip, and a changed byte is detected")
  func everyByteCounts() throws {
    let schema = try ModelSchema(
      model(["A", "B"]), catalog: SchemaCatalog(numbering: model(["A", "B"])))
    let former = FormerModel(
      sequence: 7, fingerprint: schema.model.fingerprint, schema: schema)
    let bytes = former.encoded()
    let read = try bytes.withUnsafeBytes { try FormerModel($0) }
    #expect(read.sequence == 7 && read.fingerprint == schema.model.fingerprint)
    #expect(read.schema.model == schema.model && read.schema.catalog == schema.catalog)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(throws: StoreError.self) {
        _ = try changed.withUnsafeBytes { try FormerModel($0) }
      }
    }
  }

  @Test("Dropped databases are kept until the migration is confirmed")
  func whatWasDroppedIsKeptUntilItIsConfirmed() throws {
    let file = try migrated()
    defer { file.close() }
    #expect(try file.keepsFormerModel)
    #expect(try file.environment.databaseNames().contains("e/B"))
    #expect(try file.check().isSound)
    try file.confirmMigration()
    #expect(try !file.keepsFormerModel)
    #expect(try !file.environment.databaseNames().contains("e/B"))
    #expect(try file.check().isSound)
    file.close()
    #expect(try !StoreEngine.revertMigration(at: path, dropping: nil))
    try TemporaryStore.check(path: path)
  }

  @Test("A damaged former model is reported, and prevents confirming and reverting")
  func damageIsFoundAndChangesNothing() throws {
    let file = try migrated()
    try Vandal(file: file).write { transaction, _ in
      try Array(StoreFormat.formerKey.utf8).withUnsafeBytes { key in
        try [UInt8](repeating: 1, count: 40).withUnsafeBytes {
          _ = try transaction.put(file.databases.arbor, key: key, value: $0)
        }
      }
    }
    #expect(try file.check().problems.map(\.description) == ["The entry \"former\" is damaged."])
    #expect(throws: StoreError.self) { try file.confirmMigration() }
    file.close()
    #expect(throws: StoreError.self) {
      _ = try StoreEngine.revertMigration(at: path, dropping: nil)
    }
    // The store itself is still usable.
    let again = try open(["A"])
    defer { again.close() }
    #expect(try again.environment.databaseNames().contains("e/B"))
  }
}
