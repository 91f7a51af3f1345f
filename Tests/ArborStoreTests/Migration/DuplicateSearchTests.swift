import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Values that a new model makes unique, checked before the migration or before the index is used.
@Suite struct DuplicateSearchTests {
  private let tasks: UnfinishedTasks

  init() throws { tasks = try UnfinishedTasks() }

  private func duplicates(_ body: () throws -> Void) -> [String]? {
    do {
      try body()
      return nil
    } catch StoreError.modelMismatch(let refusal) {
      return ["refused"] + refusal.obstacles.map(\.message)
    } catch StoreError.duplicatesBuilt(let found) {
      return ["built"] + found.map { "\($0.existing.number) \($0.offending.number)" }
    } catch {
      return ["\(error)"]
    }
  }

  @Test("Existing duplicates are rejected before a migration changes anything")
  func presentDuplicatesAreRefusedBeforeTheMigration() throws {
    let numbers = try tasks.fill(30)
    let file = try tasks.open(UnfinishedTasks.model())
    let draft = Draft(file)
    try draft.update(numbers[20], ["name": .string("n7")])
    let long = String(repeating: "x", count: 600)
    try draft.update(numbers[11], ["name": .string(long)])
    try draft.update(numbers[14], ["name": .string(long)])
    try draft.update(numbers[17], ["name": .string(long + "y")])
    try draft.commit()
    let schema = file.schema
    file.close()
    let before = try Data(contentsOf: URL(filePath: tasks.path))
    let names = [7, 11, 14, 20].map { numbers[$0] }.sorted().prefix(3).map {
      "\(schema.entity(of: $0)?.name ?? "") \($0.sequence)"
    }.joined(separator: ", ")
    #expect(
      duplicates { try tasks.open(UnfinishedTasks.model([tasks.once])).close() } == [
        "refused",
        """
        Item.name becomes unique, but there are 4 objects (\(names) and more) with equal values. \
        Change the values with the former model, or use a MigrationStep to change them with \
        options.migration = .automatic.
        """,
      ])
    #expect(try Data(contentsOf: URL(filePath: tasks.path)) == before)
  }

  @Test("Duplicates added during a build keep a unique index from becoming ready")
  func duplicatesThatComeMeanwhileKeepTheIndexFromBeingReady() throws {
    let numbers = try tasks.fill(200)
    let file = try tasks.open(UnfinishedTasks.model([tasks.once, tasks.byRank]))
    // Builds one index and a part of the unique one.
    try tasks.build(file, batches: 5)
    let draft = Draft(file)
    // A duplicate in the part that is built is detected.
    try draft.insert("Task", ["name": .string("n1")])
    #expect(throws: StoreError.self) { try draft.commit() }
    let late = try draft.insert("Task", ["name": .string("n199")])
    try draft.commit()
    let pair = ["built", "\(numbers[199].sequence) \(late.sequence)"]
    #expect(duplicates { try tasks.build(file) } == pair)
    #expect(try file.indexBuilds().map(\.index) == ["once"])
    #expect(try file.indexBuilds().map(\.state) == [.writeOnly])
    #expect(try file.check().isSound)
    // Once the index is built, all values are compared.
    try draft.insert("Task", ["name": .string("n198")])
    #expect(throws: StoreError.self) { try draft.commit() }
    file.close()
    let other = try tasks.open(nil) { $0.indexBuilds = .inBackground }
    other.waitForIndexBuilds()
    #expect(
      duplicates { try other.indexBuildFailure.map { throw $0 } } == pair)
    try Draft(other).changing {
      try $0.update(late, ["name": .string("different")])
    }
    other.close()
    #expect(duplicates { try tasks.open(nil) { $0.indexBuilds = .beforeOpening }.close() } == nil)
    let last = try tasks.open(nil)
    defer { last.close() }
    #expect(try last.indexBuilds() == [])
    #expect(try last.check().isSound)
    #expect(try indexDump(last) == tasks.expected(last))
  }
}
