import Synchronization
import Testing

@testable import ArborObjects

@Suite(.timeLimit(.minutes(15))) struct TaskBellTests {
  @Test func nobodyWhoHasAReasonSleeps() async {
    let bell = TaskBell()
    await bell.sleep { true }
    bell.end()
    await bell.sleep { false }
    #expect(bell.hasEnded)
  }

  @Test func aRingWakesAll() async {
    let bell = TaskBell()
    let reason = Reason()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          while !reason.isGiven { await bell.sleep { reason.isGiven } }
        }
      }
      await _Concurrency.Task.yield()
      reason.give()
      bell.ring()
    }
    #expect(!bell.hasEnded)
  }

  @Test func theEndAndACancellationWakeToo() async {
    let bell = TaskBell()
    let cancelled = _Concurrency.Task { await bell.sleep { false } }
    cancelled.cancel()
    await cancelled.value
    // Cancelled before it begins.
    let late = _Concurrency.Task {
      while !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
      await bell.sleep { false }
    }
    late.cancel()
    await late.value
    let sleeper = _Concurrency.Task { await bell.sleep { false } }
    await _Concurrency.Task.yield()
    bell.end()
    await sleeper.value
  }
}

private final class Reason: Sendable {
  private let given = Atomic(false)
  var isGiven: Bool { given.load(ordering: .acquiring) }
  func give() { given.store(true, ordering: .releasing) }
}
