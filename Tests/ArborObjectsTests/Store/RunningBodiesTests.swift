import ArborLocks
import ArborModel
import ArborObjects
import Dispatch
import TestSupport
import Testing

/// A store that is being closed, which lets running bodies finish.
@Suite("Draining a store") struct RunningBodiesTests {
  private func use(_ body: (PersistentStore) async throws -> Void) async throws {
    let store = try PersistentStore(model: StaffModel.make(), at: .inMemory)
    defer { store.close() }
    try await body(store)
  }

  /// A gate at which a body reports that it runs, and waits.
  private final class Gate: Sendable {
    private let began = DispatchSemaphore(value: 0)
    private let goes = DispatchSemaphore(value: 0)

    func pass() {
      began.signal()
      goes.wait()
    }
    func open() { goes.signal() }
    func waitUntilReached() async {
      while began.wait(timeout: .now()) == .timedOut { await _Concurrency.Task.yield() }
    }
  }

  private static func refusal(_ body: () async throws -> Void) async -> String {
    do { try await body() } catch let error as ArborError { return "\(error.code): \(error)" } catch
    {
      return "\(error)"
    }
    return "none"
  }

  @Test("Draining waits for running bodies and rejects new ones")
  func runningBodiesEndAndOthersDoNotBegin() async throws {
    try await use { store in
      let gate = Gate()
      async let body: Void = store.perform { context in
        gate.pass()
        try context.insert("Employee")["age"] = 41
      }
      await gate.waitUntilReached()
      let drain = _Concurrency.Task { await store.drain(within: .seconds(600)) }
      let message =
        "closed: The store is being closed and doesn't accept more background work. Reopen the "
        + "store."
      while await Self.refusal({ try await store.perform { _ in } }) == "none" {}
      #expect(await Self.refusal { try await store.perform { _ in } } == message)
      #expect(await Self.refusal { try await store.performBackground { _ in } } == message)
      #expect(await Self.refusal { try store.performBackgroundAndWait { _ in } } == message)
      gate.open()
      #expect(await drain.value == 0)
      try await body
      // Contexts created by the caller remain usable.
      #expect(try store.makeContext().fetch("Employee").count == 1)
    }
  }

  @Test("Bodies that threw aren't waited for")
  func bodiesThatThrowHaveEndedToo() async throws {
    try await use { store in
      #expect(
        await Self.refusal { try await store.perform { _ in throw CancellationError() } } != "none")
      #expect(
        await Self.refusal { try await store.performBackground { _ in throw CancellationError() } }
          != "none")
      #expect(await store.drain(within: .zero) == 0)
    }
  }

  @Test(
    "A body that outlasts the draining is cancelled at its next operation",
    arguments: [false, true])
  func whatIsLeftEndsAtItsNextOperation(inBackground: Bool) async throws {
    try await use { store in
      let gate = Gate()
      let body: @Sendable (ManagedObjectContext) throws -> Void = { context in
        gate.pass()
        _ = try context.fetch("Employee")
      }
      async let refusal = Self.refusal {
        if inBackground {
          try await store.performBackground(body)
        } else {
          try await store.perform(body)
        }
      }
      await gate.waitUntilReached()
      #expect(await store.drain(within: .zero) == 1)
      gate.open()
      #expect(await refusal.hasPrefix("cancelled: "))
      #expect(await store.drain(within: .zero) == 0)
      // Contexts created by the caller are not cancelled.
      let employees = try store.makeContext().fetch("Employee")
      #expect(employees.isEmpty)
    }
  }

  @Test("A body that outlasts the store reports that it is closed")
  func behindTheEndOfTheStoreItIsClosed() async throws {
    try await use { store in
      let gate = Gate()
      async let refusal = Self.refusal {
        try await store.perform { context in
          gate.pass()
          _ = try context.fetch("Employee")
        }
      }
      await gate.waitUntilReached()
      #expect(await store.drain(within: .zero) == 1)
      store.close()
      gate.open()
      #expect(await refusal.hasPrefix("closed: "))
    }
  }

  @Test("Cancelling a task ends its wait for running bodies")
  func aCancelledTaskWaitsNoLonger() async throws {
    try await use { store in
      let gate = Gate()
      async let refusal = Self.refusal { try await store.perform { _ in gate.pass() } }
      await gate.waitUntilReached()
      let drain = _Concurrency.Task { await store.drain(within: .seconds(600)) }
      drain.cancel()
      #expect(await drain.value == 1)
      gate.open()
      #expect(await refusal.hasPrefix("cancelled: "))
    }
  }
}
