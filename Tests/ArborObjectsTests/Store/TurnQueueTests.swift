import ArborLocks
import ArborModel
import Foundation
import Testing

@testable import ArborObjects

@Suite(.timeLimit(.minutes(40))) struct TurnQueueTests {
  private typealias Job = _Concurrency.Task

  @Test("The number of concurrent turns doesn't exceed the limit")
  func noMoreThanAllowedGoOnAtOnce() async throws {
    let turns = TurnQueue(count: 3)
    let counts = Counts()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<60 {
        group.addTask {
          guard index % 3 == 0 else {
            try await turns.enter()
            counts.begin()
            await Job.yield()
            counts.end()
            return turns.leave()
          }
          // Blocking calls must not run on a thread of the concurrency pool.
          try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
              continuation.resume(
                with: Result {
                  try turns.enterAndWait()
                  counts.begin()
                  usleep(100)
                  counts.end()
                  turns.leave()
                })
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(counts.most <= 3 && counts.now == 0)
  }

  @Test("Cancelling a task ends its wait for a turn")
  func aCancelledTaskWaitsNoLonger() async throws {
    let turns = TurnQueue(count: 1)
    try await turns.enter()
    for isBlocking in [false, true] {
      let waiting = Job.detached {
        if isBlocking { try turns.enterAndWait() } else { try await turns.enter() }
      }
      await Job.yield()
      waiting.cancel()
      await #expect { try await waiting.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    }
    turns.leave()
    // No cancelled task has kept a turn.
    try await turns.enter()
    turns.leave()
    try turns.enterAndWait()
    turns.leave()
  }
}

/// The current and the maximum number of concurrent turns.
private final class Counts: Sendable {
  private let state = Lock((now: 0, most: 0))

  var now: Int { state.withLock { $0.now } }
  var most: Int { state.withLock { $0.most } }

  func begin() {
    state.withLock { state in
      state.now += 1
      state.most = max(state.most, state.now)
    }
  }

  func end() { state.withLock { $0.now -= 1 } }
}
