import ArborLocks
import Foundation

/// Runs `body` on several threads at once and returns the results. Separate threads, because calls
/// of a log block.
func inThreads<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) throws -> [R] {
  let threads = RunningThreads<R>(count, body)
  return try threads.wait()
}

/// The running threads of ``inThreads(_:_:)``, for callers that do something else in the meantime.
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

  /// Waits for all threads and returns their results. Throws an error of one of them.
  func wait() throws -> [R] {
    group.wait()
    return try results.withLock { $0 }.sorted { $0.key < $1.key }.map { try $0.value.get() }
  }
}
