import Synchronization
import Testing

@testable import ArborObjects

@Suite(.timeLimit(.minutes(40))) struct AsyncSignalTests {
  @Test("A ring between reading the token and waiting isn't missed")
  func nobodySleepsPastARing() async {
    let bell = AsyncSignal()
    let token = bell.token
    bell.ring()
    await bell.sleep(past: token)
    bell.end()
    await bell.sleep(past: bell.token)
    #expect(bell.hasEnded)
  }

  @Test("Ringing wakes all waiting tasks")
  func aRingWakesAll() async {
    let bell = AsyncSignal()
    let reason = Reason()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          while true {
            let token = bell.token
            if reason.isGiven { break }
            await bell.sleep(past: token)
          }
        }
      }
      await _Concurrency.Task.yield()
      reason.give()
      bell.ring()
    }
    #expect(bell.token == 1 && !bell.hasEnded)
  }

  @Test("Cancelling a task ends its wait")
  func aCancelledTaskSleepsNoLonger() async {
    let bell = AsyncSignal()
    let cancelled = _Concurrency.Task { await bell.sleep(past: bell.token) }
    cancelled.cancel()
    await cancelled.value
    // Cancelled before it starts to wait.
    let late = _Concurrency.Task {
      while !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
      await bell.sleep(past: bell.token)
    }
    late.cancel()
    await late.value
    // Neither a ring nor the end of the signal has woken them.
    #expect(bell.token == 0 && !bell.hasEnded)
  }

  @Test("Ending the signal wakes waiting tasks")
  func theEndWakesASleeper() async {
    let bell = AsyncSignal()
    let reason = Reason()
    let sleeper = _Concurrency.Task {
      await bell.sleep(past: bell.token)
      return reason.isGiven && bell.hasEnded
    }
    for _ in 0..<100 { await _Concurrency.Task.yield() }
    reason.give()
    bell.end()
    #expect(await sleeper.value, "It slept until then.")
    #expect(bell.token == 0)
  }
}

private final class Reason: Sendable {
  private let given = Atomic(false)
  var isGiven: Bool { given.load(ordering: .acquiring) }
  func give() { given.store(true, ordering: .releasing) }
}
