import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// A closed store, on which every operation must report that it is closed.
@Suite("Closed stores") struct OpenStateTests {
  private static let ends: [(name: String, end: @Sendable (PersistentStore) throws -> Void)] = [
    ("closed", { $0.close() }), ("destroyed", { try $0.destroy() }),
  ]

  /// The throwing operations of a store and a context, by name.
  private static func operations(
    _ store: PersistentStore, _ context: ManagedObjectContext, _ known: ObjectID,
    _ results: FetchedResults<Employee>, _ cursor: FetchCursor<Employee>
  ) -> [(name: String, run: () throws -> Void)] {
    let request = FetchRequest<Employee>(sortKeys: ["name"])
    let query = context.objects(Employee.self)
    return [
      ("commit", { try context.commit() }), ("validate", { try context.validate() }),
      ("insert by name", { try context.insert("Employee") }),
      ("object", { _ = try context.object(with: known) }),
      ("existingObject", { _ = try context.existingObject(with: known) }),
      ("objects", { _ = try context.objects(with: [known]) }),
      ("fetch", { _ = try context.fetch(request) }),
      ("fetchOne", { _ = try context.fetchOne(request) }),
      ("fetchIDs", { _ = try context.fetchIDs(request) }),
      ("fetchRows", { _ = try context.fetchRows(request) }),
      ("fetchPage", { _ = try context.fetchPage(request) }),
      ("count", { _ = try context.count(request) }),
      ("exists", { _ = try context.exists(request) }),
      ("explain", { _ = try context.explain(request) }),
      ("cursor", { _ = try context.cursor(for: request) }),
      ("cursor's next", { _ = try cursor.next() }),
      ("withSnapshot", { try context.withSnapshot {} }),
      ("mergeExternalCommits", { try context.mergeExternalCommits() }),
      ("fetchedResults", { _ = try context.fetchedResults(request) }),
      ("update of results", { try results.update() }),
      ("array", { _ = try query.fetch() }), ("update", { try query.update(["age": 2]) }),
      ("delete", { try query.delete() }), ("maximum", { _ = try query.value(of: .maximum("age")) }),
      ("indexes", { _ = try store.indexes() }), ("check", { try store.check() }),
      ("purge", { try store.purge() }), ("destroy", { try store.destroy() }),
      ("uniqueIDs", { _ = try store.uniqueIDs.next() }),
      ("background", { try store.performBackgroundAndWait { _ in } }),
      ("confirmMigration", { try store.confirmMigration() }), ("compact", { try store.compact() }),
      ("copy", { try store.copy(to: URL(filePath: "/missing/copy.arbor")) }),
      ("readers", { _ = try store.readers() }), ("spaceUsage", { _ = try store.spaceUsage() }),
      ("clearStaleReaders", { _ = try store.clearStaleReaders() }),
      ("indexBuilds", { _ = try store.indexBuilds() }),
      ("lastScrub", { _ = try store.lastScrub() }), ("scrub", { try store.scrub() }),
      ("endBackUps", { try store.endBackUps() }),
    ]
  }

  @Test(
    "Every throwing operation on a closed store reports that it is closed",
    arguments: OpenStateTests.ends.map(\.name), [false, true])
  func everyThrowingOperationSaysIt(end: String, isShared: Bool) throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a.arbor"))
    let store = try PersistentStore(for: Office.classes, at: location)
    let context = store.makeContext()
    let ada = context.insert(Employee.self)
    ada.name = "Ada"
    try context.commit()
    _ = try store.uniqueIDs.next()
    let results = try context.fetchedResults(FetchRequest<Employee>())
    let cursor = try context.cursor(for: FetchRequest<Employee>())
    // Another store that has the file open doesn't affect the closed one.
    let other =
      isShared && end == "closed" ? try PersistentStore(for: Office.classes, at: location) : nil
    try #require(Self.ends.first { $0.name == end }).end(store)
    for operation in Self.operations(store, context, ada.objectID, results, cursor) {
      let error = try failure { try operation.run() }
      #expect(error.code == .closed, "\(operation.name): \(error)")
      #expect(error.message == "The store has been closed. Open it again.")
    }
    #expect(ada.name == "Ada" && results.count == 1)
    if let other {
      #expect(try other.makeContext().count(Employee.self) == 1)
      try other.check()
      other.close()
    }
  }

  @Test("The next throwing operation reports the failure of one that can't throw")
  func theNextThrowingOperationSaysWhatAnInsertionCannot() throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    let context = store.makeContext()
    context.insert(Employee.self).name = "before"
    store.close()
    let late = context.insert(Employee.self)
    late.name = "late"
    #expect(late.name == "late" && late.isInserted)
    context.delete(late)
    for _ in 0..<3 { #expect(try failure { try context.commit() }.code == .closed) }
    context.rollback()
    #expect(try failure { try context.commit() }.code == .closed)
  }

  @Test("A closed store doesn't run bodies")
  func bodiesAreNotRunAnyMore() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    store.close()
    for isBackground in [false, true] {
      let error = await #expect(throws: ArborError.self) {
        if isBackground {
          try await store.performBackground { _ in Issue.record("it ran") }
        } else {
          try await store.perform { _ in Issue.record("it ran") }
        }
      }
      #expect(error?.code == .closed)
    }
  }
}
