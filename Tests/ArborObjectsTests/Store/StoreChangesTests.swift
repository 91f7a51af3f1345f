import ArborModel
@testable import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

@Suite(.timeLimit(.minutes(40))) struct StoreChangesTests {
  /// Calls `body` with a store of the typed office, and checks the store afterwards.
  private func useOffice(_ body: (PersistentStore) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let store = try PersistentStore(
      for: Office.classes, at: .file(folder.url.appending(path: "office.arbor")))
    defer { store.close() }
    try await body(store)
    if !store.isClosed { try store.check() }
  }

  @Test("The changes of each commit are reported")
  func tellsWhatACommitDid() async throws {
    try await useOffice { store in
      let context = store.makeContext()
      context.insert(Company.self)
      try context.commit()
      var iterator = store.changes.makeAsyncIterator()
      context.author = "Ada"
      context.name = "editor"
      let employee = context.insert(Employee.self)
      let skill = context.insert(Skill.self)
      try context.commit()
      let first = try #require(await iterator.next(isolation: nil))
      #expect(first.commitSequence == 2 && first.author == "Ada" && first.contextName == "editor")
      #expect(first.isFromThisProcess && first.isComplete && first.date != nil)
      #expect(first.inserted == [employee.objectID, skill.objectID])
      #expect(first.updated.isEmpty && first.deleted.isEmpty)
      #expect(first.changedProperties(of: employee.objectID) == [])

      context.author = nil
      employee.name = "Mary"
      employee.company = try context.fetchOne(Company.self)
      employee.skills = [skill]
      employee.mood = "an attribute that is not stored"
      try context.commit()
      let second = try #require(await iterator.next(isolation: nil))
      #expect(second.author == nil && second.updated == [employee.objectID, skill.objectID])
      #expect(second.changedProperties(of: employee.objectID) == ["name", "company", "skills"])
      #expect(second.changedProperties(of: skill.objectID) == ["holders"])

      let deleted = employee.objectID
      context.delete(employee)
      try context.commit()
      let third = try #require(await iterator.next(isolation: nil))
      #expect(third.deleted == [deleted] && third.inserted.isEmpty && third.commitSequence == 4)
    }
  }

  @Test("Tombstones contain the values that the model preserves, whatever their type and storage")
  func deletedObjectsLeaveATombstone() async throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("serverID", .uuid, .optional, .preservedOnDeletion)
        AttributeDescription("text", .string, .default(""), .preservedOnDeletion)
        AttributeDescription("scan", .binary, .optional, .externalStorage, .preservedOnDeletion)
        AttributeDescription("other", .string, .optional)
      }
      EntityDescription("Draft", parent: "Note")
      EntityDescription("Plain") { AttributeDescription("text", .string, .optional) }
    }
    let store = try PersistentStore(
      model: model, at: .file(folder.url.appending(path: "notes.arbor")))
    let context = store.makeContext()
    let (id, scan) = (UUID(), Data(repeating: 7, count: 1 << 20))
    let notes = try ["Note", "Draft", "Plain"].map { entity in
      let note = try context.insert(entity)
      note["text"] = "of \(entity)"
      return note
    }
    notes[0]["serverID"] = id
    notes[0]["scan"] = scan
    notes[0]["other"] = "gone"
    try context.commit()
    var iterator = store.changes.makeAsyncIterator()
    let ids = notes.map(\.objectID)
    for note in notes { context.delete(note) }
    try context.commit()
    let changes = try #require(await iterator.next(isolation: nil))
    #expect(changes.deleted == Set(ids))
    #expect(
      changes.tombstone(of: ids[0])
        == ["serverID": .uuid(id), "text": "of Note", "scan": .binary(scan)])
    #expect(changes.tombstone(of: ids[1]) == ["text": "of Draft"])
    #expect(changes.tombstone(of: ids[2]).isEmpty)
    try store.check()
    store.close()
  }

  @Test("Every store of the file is notified of a migration, in order with the commits")
  func migrationsAreAnnounced() async throws {
    try await useOffice { store in
      let other = try PersistentStore(at: .file(try #require(store.url)), classes: Office.classes)
      defer { other.close() }
      let all = [store.changes, other.changes]
      try await store.perform {
        $0.insert(Skill.self); return
      }
      let marker = MigrationMarker(
        plan: 1, target: ModelFingerprint(bits: 2), generation: store.engine.modelGeneration,
        began: Date())
      try store.engine.setMigrationMarker(marker)
      for changes in all + [store.changes] {
        var news = changes.makeAsyncIterator()
        var element = try #require(await news.next(isolation: nil))
        if !element.inserted.isEmpty { element = try #require(await news.next(isolation: nil)) }
        let notice = try #require(element.migration)
        #expect(element.commitSequence == 1 && element.isComplete && !element.isFromThisProcess)
        #expect(notice.phase == .began && notice.reading == .current)
        #expect(notice.source == store.model.fingerprint && notice.target == marker.target)
      }
      var news = store.changes.makeAsyncIterator()
      _ = await news.next(isolation: nil)
      try store.engine.removeMigrationMarker()
      try await other.perform {
        $0.insert(Skill.self); return
      }
      var commits = 0
      var phases: [MigrationNotice.Phase] = []
      for _ in 0..<2 {
        let element = try #require(await news.next(isolation: nil))
        phases += [element.migration?.phase].compactMap { $0 }
        commits += element.inserted.count
      }
      #expect(phases == [.abandoned] && commits == 1)
    }
  }

  @Test("A changed order is reported as a change of its relationship")
  func ordersAreNamedAlone() async throws {
    try await useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      let tasks = (0..<3).map { _ in context.insert(ArborObjectsTests.Task.self) }
      employee.tasks = tasks
      try context.commit()
      var iterator = store.changes.makeAsyncIterator()
      employee.tasks = [tasks[2], tasks[0], tasks[1]]
      try context.commit()
      let changes = try #require(await iterator.next(isolation: nil))
      #expect(changes.changedProperties(of: employee.objectID) == ["tasks"])
      #expect(changes.updated == [employee.objectID])
    }
  }

  @Test("The sequence starts with the commit after it was requested")
  func beginsWhenItIsAskedFor() async throws {
    try await useOffice { store in
      let changes = store.changes
      try await store.perform {
        $0.insert(Skill.self); return
      }
      // Requested later, but iterated together with the first one.
      let later = store.changes
      try await store.perform {
        $0.insert(Company.self); return
      }
      var first = changes.makeAsyncIterator()
      var again = changes.makeAsyncIterator()
      var second = later.makeAsyncIterator()
      #expect(await first.next(isolation: nil)?.commitSequence == 1)
      #expect(await first.next(isolation: nil)?.commitSequence == 2)
      #expect(await again.next(isolation: nil)?.commitSequence == 1)
      #expect(await second.next(isolation: nil)?.commitSequence == 2)
    }
  }

  @Test("Concurrent commits are reported once and in order")
  func concurrentCommitsComeOnceAndInOrder() async throws {
    try await useOffice { store in
      let (tasks, rounds, followers) = (8, 25, 5)
      let sequences = (0..<followers).map { _ in store.changes }
      try await withThrowingTaskGroup(of: [CommittedChanges].self) { group in
        for changes in sequences {
          group.addTask {
            var seen: [CommittedChanges] = []
            for await change in changes {
              seen.append(change)
              if seen.count == tasks * rounds { break }
            }
            return seen
          }
        }
        for number in 0..<tasks {
          group.addTask {
            for _ in 0..<rounds {
              try await store.perform { context in
                context.author = "\(number)"
                context.insert(Skill.self)
              }
            }
            return []
          }
        }
        for try await seen in group where !seen.isEmpty {
          #expect(seen.map(\.commitSequence) == Array(1...UInt64(tasks * rounds)))
          #expect(Set(seen.flatMap(\.inserted)).count == tasks * rounds)
          let authors = Dictionary(grouping: seen) { $0.author ?? "" }.mapValues(\.count)
          #expect(authors.count == tasks && authors.values.allSatisfy { $0 == rounds })
          #expect(seen.allSatisfy { $0.isFromThisProcess && $0.inserted.count == 1 })
        }
      }
    }
  }

  @Test("A large commit is reported as incomplete")
  func largeCommitsSayThatAnythingMayHaveChanged() async throws {
    try await useOffice { store in
      var iterator = store.changes.makeAsyncIterator()
      try await store.perform { context in
        context.author = "loader"
        for _ in 0...10_000 { context.insert(Skill.self) }
      }
      try store.purge()
      let loaded = try #require(await iterator.next(isolation: nil))
      #expect(!loaded.isComplete && loaded.author == "loader" && loaded.inserted.isEmpty)
      let purged = try #require(await iterator.next(isolation: nil))
      #expect(!purged.isComplete && purged.commitSequence == 2 && purged.isFromThisProcess)
    }
  }

  @Test("A consumer that falls too far behind is notified of missed commits")
  func whoFallsBackTooFarIsTold() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { store.close() }
    var iterator = store.changes.makeAsyncIterator()
    let context = store.makeContext()
    for _ in 0..<1025 {
      context.insert(Skill.self)
      try context.commit()
    }
    let missed = try #require(await iterator.next(isolation: nil))
    #expect(!missed.isComplete && missed.commitSequence == 1025 && missed.date == nil)
    let skill = context.insert(Skill.self)
    try context.commit()
    let next = try #require(await iterator.next(isolation: nil))
    #expect(next.isComplete && next.commitSequence == 1026 && next.inserted == [skill.objectID])
    try store.check()
  }

  @Test("The sequence ends when the store is closed")
  func endsWithTheStore() async throws {
    try await useOffice { store in
      let (before, waiting) = (store.changes, store.changes)
      let task = _Concurrency.Task { () -> Int in
        var count = 0
        for await _ in waiting { count += 1 }
        return count
      }
      await _Concurrency.Task.yield()
      try store.check()
      store.close()
      #expect(await task.value == 0)
      var iterator = before.makeAsyncIterator()
      #expect(await iterator.next(isolation: nil) == nil)
      var late = store.changes.makeAsyncIterator()
      #expect(await late.next(isolation: nil) == nil)
      #expect(await late.next(isolation: nil) == nil)
    }
  }

  @Test("The sequence doesn't keep the store open")
  func keepsNoStoreOpen() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let location = StoreLocation.file(folder.url.appending(path: "office.arbor"))
    var store: PersistentStore? = try PersistentStore(for: Office.classes, at: location)
    try store?.check()
    let changes = try #require(store).changes
    store = nil
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next(isolation: nil) == nil)
    try PersistentStore(at: location).destroy()
  }

  @Test("Cancelling a task ends its iteration at once")
  func aCancelledTaskGoesOnAtOnce() async throws {
    try await useOffice { store in
      let changes = store.changes
      let task = _Concurrency.Task { () -> Int in
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
      await _Concurrency.Task.yield()
      task.cancel()
      #expect(await task.value == 0)
      // The other sequences continue.
      var iterator = changes.makeAsyncIterator()
      try await store.perform {
        $0.insert(Skill.self); return
      }
      #expect(await iterator.next(isolation: nil)?.commitSequence == 1)
    }
  }

  @Test("Commits of other stores of the process are reported as its own")
  func otherOpeningsOfTheFileAreTheSameProcess() async throws {
    try await useOffice { store in
      let other = try PersistentStore(at: .file(try #require(store.url)), classes: Office.classes)
      let changes = store.changes
      try await other.perform {
        $0.insert(Skill.self); return
      }
      other.close()
      var iterator = changes.makeAsyncIterator()
      #expect(await iterator.next(isolation: nil)?.isFromThisProcess == true)
    }
  }
}
