internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// Runs an actor's jobs on a serial queue, whose thread may block.
///
/// A commit waits for the disk; on the cooperative pool that would keep other tasks from running.
package final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "ArborData.context")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Queues that contexts run on, reused and made as needed, up to a number.
final class ExecutorPool: Sendable {
  static let shared = ExecutorPool()

  /// More bodies than this wait for one another rather than each for a thread.
  static let maximumCount = 64

  private let turns = TurnQueue(count: maximumCount)
  private let idle = Lock<[QueueExecutor]>([])

  /// An executor for one body, to be handed back; waits while too many are in use.
  ///
  /// - Throws: `cancelled` where the task is before there is one.
  func take() async throws(ArborError) -> QueueExecutor {
    try await turns.enter()
    return idle.withLock { $0.popLast() } ?? QueueExecutor()
  }

  func giveBack(_ executor: QueueExecutor) {
    idle.withLock { $0.append(executor) }
    turns.leave()
  }
}

/// Runs one body, each time in a fresh context.
actor ContextRunner {
  private nonisolated let executor: QueueExecutor

  init(_ executor: QueueExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    in store: PersistentStore, retries: Int, _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    var retrying = Retrying(store: store, limit: retries)
    await retrying.giveWay()
    while true {
      let context = ManagedObjectContext(store)
      context.session.limit.revocation = store.bodies.revocation
      if let result = try retrying.run(body, in: context) { return result }
      try await Task.sleep(for: .microseconds(retrying.pause))
    }
  }
}
