import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Bodies that are rerun after a conflict with other commits.
@Suite("Retrying bodies after conflicts") struct RetryingTests {
  private static let model = Result {
    try ManagedObjectModel {
      EntityDescription("Counter") {
        AttributeDescription("name", .string, .unique)
        AttributeDescription("value", .integer64, .default(0))
      }
    }
  }

  private func use(_ body: (PersistentStore) async throws -> Void) async throws {
    let store = try PersistentStore(model: Self.model.get(), at: .inMemory)
    defer { store.close() }
    try await body(store)
    try store.check()
  }

  private static func increment(_ context: ManagedObjectContext) throws {
    guard let counter = try context.fetchOne("Counter") else {
      let counter = try context.insert("Counter")
      counter["name"] = "visits"
      counter["value"] = 1
      return
    }
    counter["value"] = (counter["value"] as Int) + 1
  }

  @Test("Concurrent increments succeed and none is lost")
  func noIncrementIsLostAndNoneFails() async throws {
    try await use { store async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<50 { try await store.perform { try Self.increment($0) } }
          }
        }
        try await group.waitForAll()
      }
      let counters = try store.makeContext().fetch("Counter")
      #expect(counters.map { $0["value"] as Int } == [400])
    }
  }

  /// Runs a body that conflicts with another commit several times. Returns how often it ran.
  private func runs(
    _ retries: Int?, losing losses: Int, in store: PersistentStore
  ) async throws -> (runs: Int, error: ArborError?) {
    let count = Counting()
    let body: @Sendable (ManagedObjectContext) throws -> Void = { context in
      try Self.increment(context)
      guard count.next() <= losses else { return }
      let other = store.makeContext()
      try Self.increment(other)
      try other.commit()
    }
    do {
      if let retries {
        try await store.perform(maximumRetries: retries, body)
      } else {
        try await store.perform(body)
      }
    } catch let error as ArborError {
      return (count.value, error)
    }
    return (count.value, nil)
  }

  private final class Counting: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  @Test("A body is retried at most as often as permitted")
  func aBodyIsRunAsOftenAsItMay() async throws {
    try await use { store async throws in
      try await store.perform { try Self.increment($0) }
      for (retries, losses, expected) in [(nil, 3, 4), (2, 2, 3), (2, 9, 3), (0, 1, 1)] {
        let (runs, error) = try await runs(retries, losing: losses, in: store)
        #expect(runs == expected, "\(String(describing: retries)), \(losses)")
        #expect(error?.code == (runs > losses ? nil : .conflict))
      }
    }
  }

  /// Increments the counter after another context has incremented it.
  private static func conflict(_ context: ManagedObjectContext, _ store: PersistentStore) throws {
    try increment(context)
    let other = store.makeContext()
    try increment(other)
    try other.commit()
  }

  @Test("A body that always conflicts is retried until its deadline")
  func retriesEndAtTheDeadline() async throws {
    try await use { store async throws in
      try await store.perform { try Self.increment($0) }
      var (runs, patience) = (0, Duration.milliseconds(200))
      // A busy machine needs longer for a few runs.
      while runs < 3, patience < .seconds(1000) {
        let count = Counting()
        let error = await #expect(throws: ArborError.self) {
          try await store.perform(deadline: .now + patience, maximumRetries: .max) { context in
            _ = count.next()
            try Self.conflict(context, store)
          }
        }
        #expect(error?.code == .deadlineExceeded)
        runs = count.value
        patience *= 4
      }
      #expect(runs >= 3)
      // The turn of the last run has ended.
      try await store.perform(maximumRetries: 0) { try Self.increment($0) }
    }
  }

  @Test("A body that always conflicts is retried until its task is cancelled")
  func retriesEndAtTheCancellation() async throws {
    try await use { store async throws in
      try await store.perform { try Self.increment($0) }
      let count = Counting()
      let task = _Concurrency.Task {
        try await store.perform(maximumRetries: .max) { context in
          _ = count.next()
          try Self.conflict(context, store)
        }
      }
      while count.value < 5 { try await _Concurrency.Task.sleep(for: .milliseconds(1)) }
      task.cancel()
      let result = await task.result
      let error = #expect(throws: ArborError.self) { try result.get() }
      #expect(error?.code == .cancelled)
      try await store.perform(maximumRetries: 0) { try Self.increment($0) }
    }
  }

  @Test("A lost race for a unique value is retried, and a plain duplicate isn't")
  func aLostRaceForAUniqueValueIsRunAgainAndAPlainDuplicateIsNot() async throws {
    try await use { store async throws in
      // Neither the first run nor the concurrent one finds a counter.
      let (raced, none) = try await runs(1, losing: 1, in: store)
      #expect(raced == 2 && none == nil)
      let count = Counting()
      let error = await #expect(throws: ArborError.self) {
        try await store.perform { context in
          _ = count.next()
          try context.insert("Counter")["name"] = "visits"
        }
      }
      #expect(error?.code == .notUnique && count.value == 1)
    }
  }

  @Test("A body that has committed isn't retried")
  func whatABodyHasCommittedIsNotRepeated() async throws {
    try await use { store async throws in
      try await store.perform { try Self.increment($0) }
      let count = Counting()
      let error = await #expect(throws: ArborError.self) {
        try await store.perform { context in
          _ = count.next()
          try context.insert("Counter")["name"] = "mine"
          try context.commit()
          try Self.increment(context)
          let other = store.makeContext()
          for counter in try other.fetch("Counter") { counter["value"] = 9 }
          try other.commit()
        }
      }
      #expect(error?.code == .conflict && count.value == 1)
      #expect(try store.makeContext().count("Counter") == 2)
    }
  }

  @Test("Errors other than conflicts aren't retried")
  func otherErrorsAreThrownAtOnce() async throws {
    try await use { store async throws in
      let count = Counting()
      await #expect(throws: Interruption.self) {
        try await store.perform { _ in
          _ = count.next()
          throw Interruption()
        }
      }
      #expect(count.value == 1)
    }
  }

  @Test("The body of the background context is retried, too")
  func theBackgroundContextBeginsAnewToo() async throws {
    try await use { store async throws in
      try await store.perform { try Self.increment($0) }
      let count = Counting()
      try await store.performBackground { context in
        context.mergePolicy = .error
        defer { context.mergePolicy = .mergeByPropertyObjectWins }
        try Self.increment(context)
        guard count.next() == 1 else {
          try context.commit()
          return
        }
        let other = store.makeContext()
        try Self.increment(other)
        try other.commit()
        try context.commit()
      }
      let counters = try store.makeContext().fetch("Counter")
      #expect(count.value == 2 && counters.map { $0["value"] as Int } == [3])
    }
  }
}
