import ArborLocks
import Dispatch
import Testing

@testable import ArborPostgres

/// Calls that hang, which must not block their callers beyond the deadline.
@Suite struct BoundedCallTests {
  private final class Answer: Sendable {
    let onEnd: @Sendable () -> Void
    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }

  @Test("A result within the deadline is returned")
  func whatComesInTimeIsGiven() {
    #expect(BoundedCall(atMost: 1).run(until: Deadline(.seconds(60))) { 5 } == 5)
  }

  @Test("A late result is dropped, and its slot is occupied until then")
  func whatHangsIsLeftAlone() {
    let calls = BoundedCall(atMost: 1)
    let (gate, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let begun = Lock(0)
    let hang = { @Sendable () -> Answer in
      begun.withLock { $0 += 1 }
      gate.wait()
      return Answer { end.signal() }
    }
    #expect(calls.run(until: Deadline(.milliseconds(20)), hang) == nil)
    #expect(calls.run(until: Deadline(.milliseconds(20)), hang) == nil)
    #expect(begun.withLock { $0 } == 1)
    gate.signal()
    end.wait()
    #expect(calls.run(until: Deadline(.seconds(60))) { 7 } == 7)
  }
}
