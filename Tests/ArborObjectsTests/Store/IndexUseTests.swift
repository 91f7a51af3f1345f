import ArborModel
import ArborObjects
import Testing

@Suite("The use of indexes by requests") struct IndexUseTests {
  let context: ManagedObjectContext
  let store: PersistentStore

  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Person") { AttributeDescription("age", .integer64, .indexed) }
    }
    store = try PersistentStore(model: model, at: .inMemory)
    context = store.makeContext()
    for age in 0..<200 { try context.insert("Person")["age"] = age }
    try context.commit()
  }

  private func uses() throws -> Int { try store.indexes().reduce(0) { $0 + $1.uses } }

  private let request = FetchRequest<ManagedObject>(entity: "Person", predicate: "age == 7")

  @Test("A fetch of objects or IDs and an existence test each count as one use of an index")
  func everyKindOfFetch() throws {
    #expect(try context.fetch(request).count == 1)
    #expect(try uses() == 1)
    #expect(try context.fetchIDs(request).count == 1)
    #expect(try uses() == 2)
    #expect(try context.exists(request))
    #expect(try uses() == 3)
  }

  @Test("Concurrent fetches of several contexts are all counted")
  func concurrentFetches() async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for age in 0..<8 {
        group.addTask { [store] in
          let context = store.makeContext()
          let request = FetchRequest<ManagedObject>(
            entity: "Person", predicate: "age == \(age)")
          return try (0..<100).reduce(0) { count, _ in
            try count + context.fetchIDs(request).count
          }
        }
      }
      for try await found in group { #expect(found == 100) }
    }
    #expect(try uses() == 800)
  }
}
