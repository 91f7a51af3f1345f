import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport

/// A store of tasks and events that gets new indexes, whose builds are left unfinished.
struct UnfinishedTasks {
  let folder: TemporaryFolder
  var path: String { folder.path("tasks.arbor") }

  init() throws { folder = try TemporaryFolder() }

  static func model(_ indexes: [FetchIndexDescription] = []) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Item", isAbstract: true, fetchIndexes: indexes) {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("rank", .integer32, .optional)
      }
      EntityDescription("Task", parent: "Item") { AttributeDescription("note", .string, .optional) }
      EntityDescription("Event", parent: "Item") { AttributeDescription("day", .date, .optional) }
    }
  }

  let byRank = FetchIndexDescription(name: "byRank", elements: [.init("rank")])
  let words = FetchIndexDescription(
    name: "words", elements: [.init("name", kind: .text)])
  let once = FetchIndexDescription(
    name: "once", elements: [.init("name")], isUnique: true)

  /// Opens the store without building its indexes.
  func open(
    _ model: ManagedObjectModel?, _ adjust: (inout StoreOpening) -> Void = { _ in }
  ) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model)
    opening.indexBuilds = .left
    opening.maximumObjectsIndexedAtOnce = 0
    adjust(&opening)
    return try StoreEngine.open(opening)
  }

  @discardableResult
  func fill(_ count: Int, prefix: String = "n") throws -> [ObjectNumber] {
    let file = try open(Self.model())
    defer { file.close() }
    let draft = Draft(file)
    let numbers = try (0..<count).map { index in
      try draft.insert(
        index.isMultiple(of: 3) ? "Event" : "Task",
        ["name": .string("\(prefix)\(index)"), "rank": .integer(Int64(index % 7))])
    }
    try draft.commit()
    return numbers
  }

  /// Builds some batches.
  func build(
    _ file: StoreEngine, batches: Int = .max, of size: Int = 64, passLength: Int = 150
  ) throws {
    var left = batches
    try OnlineIndexBuilder(file, largestBatch: size, passLength: passLength).run(isStopped: {
      left -= 1
      return left < 0
    })
  }

  /// Returns the contents of the indexes if they are built at once.
  func expected(_ file: StoreEngine) throws -> [String] {
    let copy = folder.path("copy.arbor")
    try? FileManager.default.removeItem(atPath: copy)
    try file.copy(to: copy, compacting: false)
    let other = try StoreEngine.open(StoreOpening(.file(copy), model: nil))
    defer { other.close() }
    let builder = try IndexBuilder(
      other.schema, other.databases, other.layouts, storeID: other.id
    ) { _ in true }
    try Vandal(file: other).write { transaction, _ in
      for index in other.databases.indexes { try transaction.clear(index.database) }
      try builder.build(transaction)
    }
    return try indexDump(other)
  }
}

extension Draft {
  /// Makes changes and commits them.
  func changing(_ body: (Draft) throws -> Void) throws {
    try body(self)
    try commit()
  }
}
