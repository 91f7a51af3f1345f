internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// An executor that runs an actor's jobs on a serial queue, whose thread may block.
///
/// A commit waits for the disk, which would block other tasks on the cooperative pool.
package final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "ArborData.context")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// A bounded pool of executors that contexts run on. Executors are created on demand and reused.
final class ExecutorPool: Sendable {
  static let shared = ExecutorPool()

  /// The maximum number of bodies that run at once, each on its own thread. Others wait.
  static let maximumCount = 64

  private let turns = TurnQueue(count: maximumCount)
  private let idle = Lock<[QueueExecutor]>([])

  /// Returns an executor for one body, waiting if all are in use. The caller must pass it to
  /// ``giveBack(_:)`` afterwards.
  ///
  /// - Throws: `cancelled` if the task is cancelled while it waits.
  func take() async throws(ArborError) -> QueueExecutor {
    try await turns.enter()
    return idle.withLock { $0.popLast() } ?? QueueExecutor()
  }

  func giveBack(_ executor: QueueExecutor) {
    idle.withLock { $0.append(executor) }
    turns.leave()
  }
}

/// An actor that runs one body, in a new context for each attempt.
actor ContextRunner {
  private nonisolated let executor: QueueExecutor

  init(_ executor: QueueExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try retrying.run(body) {
      let context = ManagedObjectContext(store)
      context.session.limit.revocation = store.bodies.revocation
      return context
    }
  }
}
