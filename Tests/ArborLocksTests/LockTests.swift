import ArborLocks
import Dispatch
import Testing

@Suite struct LockTests {
  @Test("Only one thread at a time holds the lock")
  func oneThreadAtATimeIsInside() {
    let lock = Lock((count: 0, inside: 0, most: 0))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<2000 {
        lock.withLock { state in
          state.inside += 1
          state.most = max(state.most, state.inside)
          state.count += 1
          state.inside -= 1
        }
      }
    }
    let state = lock.withLock { $0 }
    #expect(state.count == 16_000 && state.most == 1 && state.inside == 0)
  }

  @Test("An error releases the lock")
  func anErrorLetsTheLockGo() {
    let lock = Lock([1])
    #expect(throws: Refusal.self) {
      try lock.withLock { (list) throws(Refusal) in
        list.append(2)
        throw Refusal()
      }
    }
    #expect(lock.withLock { $0 } == [1, 2])
  }

  @Test("The value is released with the lock")
  func theValueGoesWithTheLock() {
    let ends = Count()
    do {
      let lock = Lock(Ending(ends))
      lock.withLock { _ in }
      #expect(ends.value.load(ordering: .relaxed) == 0)
    }
    #expect(ends.value.load(ordering: .relaxed) == 1)
  }

  private struct Refusal: Error {}

  private final class Count: Sendable {
    let value = Atomic(0)
  }

  private struct Ending: ~Copyable {
    let ends: Count
    init(_ ends: Count) { self.ends = ends }
    deinit { ends.value.add(1, ordering: .relaxed) }
  }
}
