import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Replacing the stored model with an equivalent newer one, without writing if it is the same.
@Suite struct StoreOpenerModelTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel
  private var path: String { folder.path("office.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    model = try OfficeModel.make()
    try open(model).close()
  }

  /// Returns an equivalent model with another fetch request template.
  private func reworded(_ name: String) -> ManagedObjectModel {
    var other = model
    other.fetchRequestTemplates.append(FetchRequestTemplate(name: name, entity: "Tag"))
    return other
  }

  private func open(
    _ model: ManagedObjectModel?, _ adjust: (inout StoreOpening) -> Void = { _ in }
  ) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model)
    adjust(&opening)
    return try StoreEngine.open(opening)
  }

  /// Returns the stored model and the ID of the last transaction.
  private func stored() throws -> (model: ManagedObjectModel, transaction: UInt64) {
    let file = try open(nil)
    defer { file.close() }
    #expect(file.modelDigest == ModelDigest(file.schema.model))
    return (file.schema.model, try file.environment.lastTransactionID)
  }

  @Test("An equivalent model replaces the stored one without a new generation")
  func anotherWordingIsKept() throws {
    let before = try stored().transaction
    let file = try open(reworded("tags"))
    #expect(file.modelGeneration == 1 && file.lastSequence == 0)
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "a"])
    try draft.commit()
    #expect(file.lastSequence == 1)
    file.close()
    #expect(try stored().model == reworded("tags"))
    #expect(try stored().transaction > before)
    // Without the template again.
    try open(model).close()
    #expect(try stored().model == model)
    try TemporaryStore.check(path: path)
  }

  @Test("Opening a store with its own model writes nothing")
  func nothingIsWrittenForTheSameModel() throws {
    try open(reworded("tags")).close()
    let bytes = try Data(contentsOf: URL(filePath: path))
    for _ in 0..<3 { try open(reworded("tags")).close() }
    try open(nil).close()
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  @Test("A read-only store uses an equivalent model without writing it")
  func nothingIsWrittenByReaders() throws {
    let bytes = try Data(contentsOf: URL(filePath: path))
    let file = try open(reworded("tags")) { $0.isReadOnly = true }
    #expect(file.schema.model == reworded("tags"))
    file.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(try stored().model == model)
  }

  @Test("A process that has the store open with an earlier equivalent model continues")
  func othersGoOn() throws {
    let file = try open(model)
    let same = try open(reworded("tags"))
    #expect(same === file)
    for name in ["a", "b"] {
      let draft = Draft(file)
      try draft.insert("Tag", ["name": .string(name)])
      try draft.commit()
    }
    same.close()
    file.close()
    #expect(try stored().model == reworded("tags"))
    try TemporaryStore.check(path: path)
  }

  @Test(
    "A missing or damaged digest of the model is restored",
    arguments: [nil, [], [UInt8](repeating: 7, count: 16)] as [[UInt8]?])
  func aMissingDigestIsMade(digest: [UInt8]?) throws {
    let file = try open(model)
    let key = Array(StoreFormat.modelDigestKey.utf8)
    try Vandal(file: file).write { transaction, _ in
      let arbor = file.databases.arbor
      if let digest {
        try transaction.put(arbor, key: key, value: digest)
      } else {
        try transaction.delete(arbor, key: key)
      }
    }
    #expect(throws: (any Error).self) { try TemporaryStore.check(path: path) }
    file.close()
    try open(model).close()
    try TemporaryStore.check(path: path)
  }

  private func isRefused(_ opening: StoreOpening) -> Bool {
    do throws(StoreError) {
      try StoreEngine.open(opening).close()
      return false
    } catch {
      if case .invalidModel = error { return true }
      return false
    }
  }

  @Test("Invalid models are rejected, and no file is created or changed")
  func modelsThatBreakARuleAreRefused() throws {
    var broken = model
    broken.fetchRequestTemplates.append(FetchRequestTemplate(name: "x", entity: "Nobody"))
    let bytes = try Data(contentsOf: URL(filePath: path))
    let others: [StoreOpening] = [
      StoreOpening(.file(path), model: broken), StoreOpening(.inMemory, model: broken),
      StoreOpening(.file(folder.path("new.arbor")), model: broken),
    ]
    let file = try open(model)
    for opening in others { #expect(isRefused(opening)) }
    file.close()
    #expect(isRefused(others[0]))
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(!FileManager.default.fileExists(atPath: folder.path("new.arbor")))
  }
}
