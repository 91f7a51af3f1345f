internal import ArborLocks
internal import Dispatch

/// Runs an actor's jobs on a serial queue, whose thread may block.
///
/// A commit waits for the disk; on the cooperative pool that would keep other tasks from running.
final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "ArborData.context")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Queues that contexts run on, reused; made as needed, up to a number, then shared.
final class ExecutorPool: Sendable {
  static let shared = ExecutorPool()

  /// More bodies than this wait for one another rather than each for a thread.
  private static let maximumCount = 64

  private struct State {
    var idle: [QueueExecutor] = []
    var all: [QueueExecutor] = []
    var next = 0
  }

  private let state = Lock(State())

  /// An executor for one body, to be handed back.
  func take() -> QueueExecutor {
    state.withLock { state in
      if let executor = state.idle.popLast() { return executor }
      guard state.all.count >= Self.maximumCount else {
        let executor = QueueExecutor()
        state.all.append(executor)
        return executor
      }
      state.next = (state.next + 1) % state.all.count
      return state.all[state.next]
    }
  }

  func giveBack(_ executor: QueueExecutor) {
    state.withLock { state in
      // A shared one may be in use by others still: who takes it next waits for them.
      if !state.idle.contains(where: { $0 === executor }) { state.idle.append(executor) }
    }
  }
}

/// Runs one body, each time in a fresh context.
actor ContextRunner {
  private nonisolated let executor: QueueExecutor

  init(_ executor: QueueExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    in store: PersistentStore, retries: Int,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    var retrying = Retrying(retries, in: store)
    await retrying.giveWay()
    while true {
      let context = ManagedObjectContext(store)
      let start = context.sequence
      do {
        let result = try body(context)
        try context.commit()
        return result
      } catch {
        guard retrying.allowsAnother(after: error, in: context, since: start) else { throw error }
      }
      try await Task.sleep(for: .microseconds(retrying.pause))
    }
  }
}
