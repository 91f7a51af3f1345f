import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Followers that only wait, which must be notified of the commits of other contexts.
@MainActor @Suite(.timeLimit(.minutes(40))) struct FetchedResultsChangesTests {
  private func open() throws -> PersistentStore {
    try PersistentStore(for: Office.classes, at: .inMemory)
  }

  private func insert(_ name: String, in store: PersistentStore) async throws {
    try await store.perform { context in context.insert(Employee.self).name = name }
  }

  @Test("Commits of other contexts wake a follower of the results")
  func aWaitingFollowerIsWokenByOthersCommits() async throws {
    let store = try open()
    let context = store.makeContext()
    let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["name"]))
    var names: [[String]] = []
    let follower = _Concurrency.Task { @MainActor in
      for await _ in results.changes {
        names.append(results.objects.map(\.name))
        if names.count == 3 { break }
      }
    }
    // Each commit happens while the follower waits and its context is idle.
    for name in ["Ada", "Bob", "Cid"] {
      let count = names.count
      await _Concurrency.Task.yield()
      try await insert(name, in: store)
      while names.count == count { try await _Concurrency.Task.sleep(for: .milliseconds(1)) }
    }
    await follower.value
    #expect(names == [["Ada"], ["Ada", "Bob"], ["Ada", "Bob", "Cid"]])
    try store.check()
    store.close()
  }

  @Test("Without automatic merges, followers are notified of explicit merges only")
  func aContextThatDoesNotMergeByItselfIsLeftAlone() async throws {
    let store = try open()
    let context = store.makeContext()
    context.automaticallyMergesCommits = false
    let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["name"]))
    var changes = results.changes.makeAsyncIterator()
    try await insert("Ada", in: store)
    let waiting = _Concurrency.Task { @MainActor in
      try await _Concurrency.Task.sleep(for: .milliseconds(20))
      #expect(results.count == 0)
      #expect(try context.mergeExternalCommits())
      #expect(!context.automaticallyMergesCommits)
    }
    // An explicit merge wakes the follower.
    #expect(await changes.next(isolation: #isolation)?.insertions.count == 1)
    try await waiting.value
    store.close()
  }

  @Test("Closing the store ends the sequence of changes")
  func closingTheStoreEndsTheWait() async throws {
    let store = try open()
    let results = try store.makeContext().fetchedResults(FetchRequest<Employee>())
    let follower = _Concurrency.Task { @MainActor in
      for await _ in results.changes { Issue.record("nothing has changed") }
    }
    try await _Concurrency.Task.sleep(for: .milliseconds(5))
    store.close()
    await follower.value
  }

  @Test("An explicit merge returns whether it merged commits of other contexts")
  func takingInTellsWhetherOthersHaveCommitted() async throws {
    let store = try open()
    let context = store.makeContext()
    let ada = context.insert(Employee.self)
    try context.commit()
    #expect(try !context.mergeExternalCommits(), "only its own commit")
    let id = ada.objectID
    try await store.perform { context in
      (try context.existingObject(with: id) as? Employee)?.name = "Ada"
    }
    let isTakenIn = try context.withSnapshot { try context.mergeExternalCommits() }
    #expect(!isTakenIn, "a snapshot stays what it is")
    ada.age = 30
    let taken = try context.mergeExternalCommits()
    #expect(!taken, "the snapshot had taken it in")
    try await insert("Bob", in: store)
    context.insert(Employee.self)
    try context.commit()
    #expect(try !context.mergeExternalCommits(), "the commit took Bob in")
    try await insert("Cid", in: store)
    #expect(try context.mergeExternalCommits())
    #expect(try !context.mergeExternalCommits())
    #expect(ada.name == "Ada" && context.registeredObjects.count == 2)
    try store.check()
    store.close()
  }
}
