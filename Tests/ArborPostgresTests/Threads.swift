import ArborLocks
import Foundation

/// Runs something several times at once, each on a thread of its own, since calls of a log block.
func inThreads<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) throws -> [R] {
  let threads = RunningThreads<R>(count, body)
  return try threads.wait()
}

/// What ``inThreads(_:_:)`` runs, for a caller that does something else meanwhile.
final class RunningThreads<R: Sendable>: Sendable {
  private let results = Lock<[Int: Result<R, any Error>]>([:])
  private let group = DispatchGroup()

  init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> R) {
    for number in 0..<count {
      group.enter()
      let thread = Thread {
        let result = Result { try body(number) }
        self.results.withLock { $0[number] = result }
        self.group.leave()
      }
      thread.start()
    }
  }

  /// Waits for all; throws what one of them threw.
  func wait() throws -> [R] {
    group.wait()
    return try results.withLock { $0 }.sorted { $0.key < $1.key }.map { try $0.value.get() }
  }
}
