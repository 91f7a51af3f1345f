internal import ArborObjects

/// Does what blocks a thread on one of its own, in the task that waits for it.
actor ServiceWorker {
  private nonisolated let executor = QueueExecutor()

  /// The actor owns its executor, which so outlives every job of it.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  func run<R: Sendable>(_ work: @Sendable () throws -> R) rethrows -> R { try work() }
}
